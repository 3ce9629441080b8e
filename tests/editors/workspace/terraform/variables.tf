variable "machine" {
  type    = string
  default = "a2-highgpu-2g"
}

variable "disk_gib" {
  type        = number
  description = "Size of the disk in GiB, which costs extra: at least @disk@ for the system, the image of vLLM and the weights"
  validation {
    condition     = var.disk_gib >= @disk@
    error_message = "The system, the image of vLLM and the weights need @disk@ GiB."
  }
}

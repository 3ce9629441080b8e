variable "machine" {
  type    = string
  default = "g5.xlarge"
}
variable "count_of" {
  type = number
  validation {
    condition     = var.count_of < 100
    error_message = "too many: ${var.count_of}"
  }
}
variable "pools" {
  type = map(object({
    type   = string
    min    = optional(number, 0)
    max    = optional(number, 4)
    labels = optional(map(string), {})
    zones  = optional(list(string))
  }))
  default = {}
}
variable "names" {
  type    = set(string)
  default = []
}
variable "pair" {
  type    = tuple([string, number, bool])
  default = ["a", 1, true]
}
variable "anything" {
  type    = any
  default = null
}
variable "secret" {
  sensitive = true
  default   = "none"
}

resource "aws_instance" "one" {
  count         = var.count_of
  instance_type = var.machine
  tags          = { team = try(var.anything.team, "none"), secret = var.secret, name = "${var.pair[0]}-${count.index}" }
}
resource "aws_eks_node_group" "pools" {
  for_each       = var.pools
  instance_types = [each.value.type]
  labels         = each.value.labels
  scaling_config {
    min_size     = each.value.min
    desired_size = each.value.min
    max_size     = each.value.max
  }
}
resource "google_compute_instance" "named" {
  for_each     = var.names
  name         = each.key
  machine_type = try(var.anything.machine, "a2-highgpu-1g")
  zone         = try(element(var.anything.zones, 0), "us-central1-a")
}

variable "region" {
  type    = string
  default = "us-east-1"
}

variable "training_instance_type" {
  description = "The machine for training; eight accelerators each."
  type        = string
  default     = "g5.48xlarge"
}

variable "cluster_role_arn" {
  type = string
}

variable "node_role_arn" {
  type = string
}

variable "subnet_ids" {
  type = list(string)
}

variable "demo_ami" {
  type = string
}

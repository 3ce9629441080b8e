@header@

terraform {
  required_version = ">= 1.3"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

provider "aws" {
  region = "@region@"
}

@disk_variable@
variable "subnet_id" {
  type        = string
  description = "Subnet of the machine, with access to the internet"
}

variable "security_group_ids" {
  type        = list(string)
  description = "Security groups that allow port @port@ for the clients"
}

# The newest image of AWS with NVIDIA's driver and Docker.
data "aws_ssm_parameter" "image" {
  name = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id"
}

resource "aws_instance" "server" {
  ami                    = data.aws_ssm_parameter.image.insecure_value
  instance_type          = "@machine@"
  subnet_id              = var.subnet_id
  vpc_security_group_ids = var.security_group_ids

  user_data = <<-EOT
@start@  EOT

  root_block_device {
    volume_size = var.disk_gib
    volume_type = "gp3"
    encrypted   = true
  }

  metadata_options {
    http_tokens = "required"
  }

  # The price is for a server that answers at all hours.
  tags = {
    Name        = "@name@"
    environment = "production"
  }

  # A newer image would replace the machine.
  lifecycle {
    ignore_changes = [ami]
  }
}

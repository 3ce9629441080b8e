terraform {
  required_providers {
    aws = { source = "hashicorp/aws" }
  }
}

provider "aws" {
  region = var.region
}

locals {
  cluster_name = "research"
}

resource "aws_eks_cluster" "this" {
  name     = local.cluster_name
  role_arn = var.cluster_role_arn

  vpc_config {
    subnet_ids = var.subnet_ids
  }
}

# Eight A100 a machine, up to four machines, at the full price.
module "training" {
  source = "./modules/gpu-pool"

  cluster_name   = aws_eks_cluster.this.name
  name           = "training"
  instance_types = [var.training_instance_type]
  min_size       = 0
  max_size       = 4
  desired_size   = 2
  node_role_arn  = var.node_role_arn
  subnet_ids     = var.subnet_ids
  labels         = { workload = "training" }

  tags = {
    team    = "research"
    project = "foundation-model"
  }
}

# Interruptible, scales to zero, owned: nothing to say about it.
module "evaluation" {
  source = "./modules/gpu-pool"

  cluster_name   = aws_eks_cluster.this.name
  name           = "evaluation"
  instance_types = ["g5.xlarge", "g6.xlarge"]
  capacity_type  = "SPOT"
  min_size       = 0
  max_size       = 8
  desired_size   = 0
  node_role_arn  = var.node_role_arn
  subnet_ids     = var.subnet_ids
  labels         = { workload = "batch" }

  tags = {
    team    = "research"
    project = "evaluation"
  }
}

# Started for a demo in spring.
resource "aws_instance" "demo" {
  ami           = var.demo_ami
  instance_type = "g5.12xlarge"
  subnet_id     = var.subnet_ids[0]

  tags = {
    Name = "demo"
  }
}

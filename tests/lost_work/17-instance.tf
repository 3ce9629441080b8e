resource "aws_instance" "train" {
  ami               = "ami-1"
  instance_type     = "p4d.24xlarge"
  availability_zone = "us-west-2a"
  instance_market_options {
    market_type = "spot"
  }
  user_data = <<-EOT
    #!/bin/bash
    torchrun --nproc_per_node=8 train.py --output_dir s3://runs/out --model_name_or_path meta-llama/Llama-3.1-8B
  EOT
  tags = {
    "gpulint.dev/checkpoint-minutes" = "60"
    "gpulint.dev/cold-start-seconds"      = "300"
    "gpulint.dev/method"             = "full"
  }
}

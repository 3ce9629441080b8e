training_instance_type = "p4d.24xlarge"
subnet_ids             = ["subnet-0a1b2c3d", "subnet-4e5f6a7b"]

@header@

terraform {
  required_version = ">= 1.3"
  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 5.0"
    }
  }
}

provider "google" {
  region = "@region@"
}

@disk_variable@
variable "zone" {
  type        = string
  description = "Zone of @region@ that has @machine@: gcloud compute machine-types list --filter name=@machine@"
  default     = "@region@-b"
  validation {
    condition     = startswith(var.zone, "@region@-")
    error_message = "The price is for zones of @region@."
  }
}

variable "subnetwork" {
  type        = string
  description = "Subnetwork of @region@, with access to the internet"
}

variable "image" {
  type        = string
  description = "Image with NVIDIA's driver, Docker and NVIDIA's container toolkit: gcloud compute images list --project deeplearning-platform-release"
}

resource "google_compute_instance" "server" {
  name         = "@name@"
  machine_type = "@machine@"
  zone         = var.zone

  boot_disk {
    initialize_params {
      image = var.image
      size  = var.disk_gib
      type  = "@disk_type@"
    }
  }

  network_interface {
    subnetwork = var.subnetwork
  }

  # Machines with accelerators cannot move to another host.
  scheduling {
    on_host_maintenance = "TERMINATE"
  }

  metadata_startup_script = <<-EOT
@start@  EOT

  # The price is for a server that answers at all hours.
  labels = {
    environment = "production"
  }
}

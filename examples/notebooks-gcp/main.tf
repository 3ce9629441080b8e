provider "google" {
  project = var.project
  region  = "us-central1"

  default_labels = {
    team = "data-science"
  }
}

variable "project" {
  type = string
}

variable "notebooks" {
  description = "Who gets a workbench, and when it stops by itself."
  type = map(object({
    machine_type = optional(string, "n1-standard-8")
    idle_seconds = optional(string)
  }))
  default = {
    ada   = {}
    grace = { idle_seconds = "" } # switched off: long downloads
  }
}

# Workbench stops after 180 idle minutes unless the metadata say otherwise.
resource "google_workbench_instance" "user" {
  for_each = var.notebooks

  name     = "workbench-${each.key}"
  location = "us-central1-a"

  gce_setup {
    machine_type = each.value.machine_type

    accelerator_configs {
      type       = "NVIDIA_TESLA_T4"
      core_count = 1
    }

    metadata = each.value.idle_seconds == null ? {} : { idle-timeout-seconds = each.value.idle_seconds }
  }
}

# A VM used like a notebook: nothing stops it at night.
resource "google_compute_instance" "scratch" {
  name         = "scratch-notebook"
  machine_type = "a2-highgpu-1g"
  zone         = "us-central1-a"

  boot_disk {
    initialize_params {
      image = "ml-images/common-cu124"
      size  = 200
    }
  }

  network_interface {
    network = "default"
  }

  scheduling {
    on_host_maintenance = "TERMINATE"
  }
}

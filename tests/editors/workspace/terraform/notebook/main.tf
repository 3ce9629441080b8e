variable "machine" { type = string }

resource "google_compute_instance" "notebook" {
  name         = "notebook"
  machine_type = var.machine
  zone         = "us-central1-a"

  boot_disk {
    initialize_params {
      image = "ml-images/common-cu124"
    }
  }

  network_interface {
    network = "default"
  }

  scheduling {
    on_host_maintenance = "TERMINATE"
  }
}

provider "google" {
  project = "acme"
  region  = "us-central1"

  default_labels = { team = "research" }
}

# Trains every night: é 𝛼 stand before what is measured in columns.
resource "google_container_node_pool" "training" {
  cluster    = "research"
  location   = "us-central1-a"
  node_count = 2

  node_config {
    machine_type = var.machine
    labels       = { "é𝛼" = "x", workload = "training" }
  }
}

module "notebook" {
  source  = "./notebook"
  machine = var.machine
}

provider "google" {
  project = "acme-ml"
  region  = "us-central1"
}

resource "google_container_cluster" "ml" {
  name     = "ml"
  location = "us-central1-a"

  remove_default_node_pool = true
  initial_node_count       = 1
}

resource "google_container_node_pool" "l4" {
  name    = "l4"
  cluster = google_container_cluster.ml.id

  autoscaling {
    min_node_count = 1
    max_node_count = 6
  }

  node_config {
    machine_type = "g2-standard-8"

    labels = {
      "acme.com/pool" = "l4"
    }

    taint {
      key    = "acme.com/gpu"
      value  = "l4"
      effect = "NO_SCHEDULE"
    }

    resource_labels = {
      team = "documents"
    }
  }
}

# Trains every night, can be interrupted, and pays the full price for it.
resource "google_container_node_pool" "training" {
  name       = "training"
  cluster    = google_container_cluster.ml.id
  node_count = 1

  node_config {
    machine_type = "a2-highgpu-2g"

    labels = {
      "acme.com/pool" = "training"
      workload        = "training"
    }

    resource_labels = {
      team = "documents"
    }
  }
}

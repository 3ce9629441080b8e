@header@

terraform {
  required_version = ">= 1.3"
  required_providers {
    azurerm = {
      source  = "hashicorp/azurerm"
      version = ">= 4.0"
    }
  }
}

provider "azurerm" {
  features {}
}

@disk_variable@
variable "resource_group_name" {
  type        = string
  description = "Resource group of the machine"
}

variable "subnet_id" {
  type        = string
  description = "ID of the subnet of the machine, with access to the internet"
}

variable "ssh_public_key" {
  type        = string
  description = "Public key for the user azureuser"
}

variable "image" {
  type        = object({ publisher = string, offer = string, sku = string, version = string })
  description = "Image with NVIDIA's driver for this machine, Docker and NVIDIA's container toolkit"
@image@}

resource "azurerm_network_interface" "server" {
  name                = "@name@"
  location            = "@region@"
  resource_group_name = var.resource_group_name

  ip_configuration {
    name                          = "internal"
    subnet_id                     = var.subnet_id
    private_ip_address_allocation = "Dynamic"
  }
}

resource "azurerm_linux_virtual_machine" "server" {
  name                  = "@name@"
  location              = "@region@"
  resource_group_name   = var.resource_group_name
  size                  = "@machine@"
  admin_username        = "azureuser"
  network_interface_ids = [azurerm_network_interface.server.id]

  custom_data = base64encode(<<-EOT
@start@  EOT
  )

  admin_ssh_key {
    username   = "azureuser"
    public_key = var.ssh_public_key
  }

  os_disk {
    caching              = "ReadWrite"
    storage_account_type = "Premium_LRS"
    disk_size_gb         = var.disk_gib
  }

  source_image_reference {
    publisher = var.image.publisher
    offer     = var.image.offer
    sku       = var.image.sku
    version   = var.image.version
  }

  # The price is for a server that answers at all hours.
  tags = {
    environment = "production"
  }
}

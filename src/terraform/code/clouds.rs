//! Defines names of clouds: in Terraform, in modules and in gpulint.

/// A cloud that registry modules support.
pub(in crate::terraform) struct Cloud {
    pub provider: &'static str,
    /// The name of Terraform's provider.
    pub terraform: &'static str,
    /// Other names that modules use for it.
    modules: &'static [&'static str],
}

include!(concat!(env!("OUT_DIR"), "/clouds.rs"));

impl Cloud {
    /// Returns the cloud in the last part of a module's name: `aws` for `terraform-aws-modules/eks/aws`.
    pub(in crate::terraform) fn of_modules(name: &str) -> Option<&'static Cloud> {
        CLOUDS.iter().find(|it| it.terraform == name || it.modules.contains(&name))
    }

    pub(in crate::terraform) fn of_terraform(name: &str) -> Option<&'static Cloud> {
        CLOUDS.iter().find(|it| it.terraform == name)
    }
}

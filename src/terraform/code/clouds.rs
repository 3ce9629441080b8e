//! What clouds are called: by Terraform, by modules, and here.

/// A cloud for which modules are made.
pub(in crate::terraform) struct Cloud {
    pub provider: &'static str,
    /// The name of Terraform's provider.
    pub terraform: &'static str,
    /// What modules call it too.
    modules: &'static [&'static str],
}

include!(concat!(env!("OUT_DIR"), "/clouds.rs"));

impl Cloud {
    /// The cloud that the last part of a module's name means: `aws` of `terraform-aws-modules/eks/aws`.
    pub(in crate::terraform) fn of_modules(name: &str) -> Option<&'static Cloud> {
        CLOUDS.iter().find(|it| it.terraform == name || it.modules.contains(&name))
    }

    pub(in crate::terraform) fn of_terraform(name: &str) -> Option<&'static Cloud> {
        CLOUDS.iter().find(|it| it.terraform == name)
    }
}

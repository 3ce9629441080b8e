//! The names of clouds in `providers.csv` that gpulint knows in more detail than their prices.

pub const AWS: &str = "aws";
pub const AZURE: &str = "azure";
pub const GCP: &str = "gcp";

#[cfg(test)]
mod tests {
    use crate::catalog::Catalog;

    #[test]
    fn clouds_are_called_as_their_rows_are() {
        for cloud in [super::AWS, super::AZURE, super::GCP] {
            assert_eq!(Catalog::embedded().provider_called(cloud), Some(cloud));
        }
    }
}

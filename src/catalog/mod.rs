//! The catalog of machines, accelerators, prices and models: tables in the binary, and lookups.
//!
//! The catalog knows no resources. A lookup never guesses a value from a similar name.
//!
//! `machine` and `recognize` resolve names, and `quote` returns a price in a region with its source. `machines`,
//! `machines_with` and `offers` iterate over all entries.

mod accelerator;
mod age;
mod apis;
mod book;
mod clouds;
mod dated;
mod disk;
mod format;
mod hardware;
mod machine;
mod model;
mod model_config;
mod models;
mod money;
mod names;
mod own;
mod peers;
mod precision;
mod quote;
mod search;
mod startup;
mod table;
mod throughput;
mod verify;
mod words;

use own::OwnPrices;
use table::CatalogBlock;
use words::KnownWords;

pub use table::covers;
pub use verify::{DoubtedRow, PER_ACCELERATOR_USD};

pub use accelerator::{Accelerator, AcceleratorSlice, BOARDS, BRANDS, DRIVER_SUFFIXES};
pub use age::{Ages, PriceClass, PriceMove, SPOT_IS_GOOD_FOR, is_past_spot, is_stale};
pub use apis::Hosted;
pub use book::is_an_hour;
pub use clouds::{AWS, AZURE, GCP};
pub use dated::{DATED_TABLES, DatedRow, dated_text, read_dated};
pub use disk::{DiskPrice, Meter};
pub use format::{CsvFile, TableError, encode as encode_tables, schema_number};
pub use hardware::AcceleratorHardware;
pub use machine::{CatalogMachine, Host, Recognized};
pub use model::{Modality, Model};
pub use models::{Identification, Identified, Models, read_models};
pub use money::{Currency, Money, MoneyRange, grouped, rounded};
pub use peers::{COMPOSED, Doubt, PeerPrice, Peers, PriceDoubt};
pub use precision::Precision;
pub use quote::{Basis, Commitment, Offer, Quote, QuotePart, RegionIndex};
pub use search::Search;
pub use startup::AssumedNumber;
pub use throughput::{Peak, Published, TrainingShare};

/// The embedded tables and their overrides: custom prices first, then refreshed prices.
#[derive(Clone)]
pub struct Catalog {
    block: CatalogBlock,
    refreshed: Option<CatalogBlock>,
    own: OwnPrices,
    models: Models,
    /// A cache for these tables. Adding other tables clears it.
    words: KnownWords,
}

impl Default for Catalog {
    fn default() -> Self {
        Self::embedded()
    }
}

impl std::fmt::Debug for Catalog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let prices = self.block.table("prices").len();
        f.debug_struct("Catalog").field("prices", &prices).finish_non_exhaustive()
    }
}

impl Catalog {
    /// Returns the tables of `pricing/` that are embedded in this binary.
    pub fn embedded() -> Self {
        Self::of(CatalogBlock::embedded(include_bytes!(concat!(env!("OUT_DIR"), "/catalog.bin"))))
    }

    /// Returns round prices for tests and the examples of rule files, so that readers can check the calculation.
    pub fn examples() -> Self {
        Self::of(CatalogBlock::embedded(include_bytes!(concat!(env!("OUT_DIR"), "/examples.bin"))))
    }

    /// Reads tables. If the stem of a file is not a table name, the file contains the prices of that provider.
    pub fn from_tables(files: &[CsvFile<'_>]) -> Result<Self, TableError> {
        Ok(Self::of(CatalogBlock::load(files)?))
    }

    fn of(block: CatalogBlock) -> Self {
        Catalog {
            block,
            refreshed: None,
            own: OwnPrices::default(),
            models: Models::default(),
            words: KnownWords::default(),
        }
    }

    /// Returns the sources of prices: `embedded`, `embedded, cached`, `embedded, cached, own`.
    pub fn layers(&self) -> String {
        let mut layers = vec!["embedded"];
        layers.extend(self.refreshed.is_some().then_some("cached"));
        layers.extend((!self.own.is_empty()).then_some("own"));
        layers.join(", ")
    }

    /// Adds custom prices, which override all others. `path` is for messages.
    pub fn with_prices(self, path: &str, text: &str) -> Result<Self, TableError> {
        self.with_prices_at(path, text, None)
    }

    /// Adds custom prices in another currency, if `usd_per_unit` sets the dollars per unit.
    pub fn with_prices_at(self, path: &str, text: &str, usd_per_unit: Option<f64>) -> Result<Self, TableError> {
        let own = OwnPrices::read(path, text, usd_per_unit, &self)?;
        Ok(Catalog { own, words: KnownWords::default(), ..self })
    }

    /// Adds newer rows for some providers.
    pub fn with_refreshed(self, files: &[CsvFile<'_>]) -> Result<Self, TableError> {
        Ok(self.with_encoded(encode_tables(files)?, 0))
    }

    /// Adds newer rows that `encode_tables` of the same schema returned. They begin at a position.
    pub fn with_encoded(self, encoded: Vec<u8>, begin: usize) -> Self {
        Catalog { refreshed: Some(CatalogBlock::of_bytes(encoded, begin)), words: KnownWords::default(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_demand(provider: &str, machine: &str, region: &str) -> f64 {
        let catalog = Catalog::embedded();
        let machine = catalog.machine(provider, machine).expect(machine);
        catalog.quote(&machine, region).unwrap().on_demand.unwrap().usd()
    }

    #[test]
    fn case_zones_and_services_resolve() {
        assert_eq!(on_demand("aws", "P5.48XLARGE", "us-east-1"), 55.04);
        assert_eq!(on_demand("azure", "STANDARD_NC24ADS_A100_V4", "eastus"), 3.673);
        assert_eq!(on_demand("aws", "ml.g5.xlarge", "us-east-1"), 1.4084);
        let catalog = Catalog::embedded();
        assert_eq!(catalog.region("aws", "us-east-1a"), Some("us-east-1"));
        assert_eq!(catalog.region("gcp", "us-central1-b"), Some("us-central1"));
        assert_eq!(catalog.region("azure", "East US 2"), Some("eastus2"));
        // A Local Zone has other prices than its region.
        assert_eq!(catalog.region("aws", "us-west-2-lax-1a"), None);
        assert_eq!(catalog.place_apart("aws", "us-west-2-lax-1"), Some("us-west-2"));
        assert_eq!(catalog.place_apart("aws", "us-east-1-wl1-bos-wlz-1"), Some("us-east-1"));
        assert_eq!(catalog.place_apart("aws", "us-west-2"), None);
        assert_eq!(catalog.region("aws", "atlantis"), None);
    }

    #[test]
    fn guests_are_added_to_their_host() {
        let catalog = Catalog::embedded();
        let machine = catalog.equipped("n1-standard-8", "nvidia-tesla-t4", 1.0).unwrap();
        let quote = catalog.quote(&machine, "us-central1").unwrap();
        // The price is 8 x 0.031611 + 30 x 0.004237 + 0.35.
        assert_eq!(quote.on_demand.unwrap().usd(), 0.729998);
        assert!(catalog.equipped("n1-standard-8", "A100", 1.0).unwrap_err().contains("N1 machines support"));
        assert!(catalog.equipped("n1-standard-8", "T4", 3.0).is_err());
        assert!(catalog.equipped("e2-standard-8", "T4", 1.0).is_err());
    }

    #[test]
    fn tpu_slices_count_chips() {
        let catalog = Catalog::embedded();
        for (name, chips, usd) in [("v5litepod-16", 16.0, 19.2), ("v4-8", 4.0, 12.88), ("ct5lp-hightpu-4t", 4.0, 4.8)] {
            let machine = catalog.machine("gcp", name).expect(name);
            assert_eq!(machine.count, chips, "{name}");
            let region = if name.starts_with("v4") { "us-central2" } else { "us-central1" };
            assert_eq!(catalog.quote(&machine, region).unwrap().on_demand.unwrap().usd(), usd, "{name}");
        }
    }

    #[test]
    fn regions_without_a_row_are_estimated() {
        let catalog = Catalog::embedded();
        let machine = catalog.machine("aws", "g6f.xlarge").unwrap();
        let quote = catalog.quote(&machine, "eu-west-1").unwrap();
        assert!(quote.basis.is_estimate(), "{quote:?}");
        assert_eq!(quote.on_demand.unwrap(), Money::from_micros(237_500).scaled(1_115_000));
    }

    #[test]
    fn accelerators_go_by_many_names() {
        let catalog = Catalog::embedded();
        for (name, canonical) in [
            ("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", "A100-40GB"),
            ("Tesla-T4-SHARED", "T4"),
            ("nvidia-tesla-t4-vws", "T4"),
            ("nvidia-h100-80gb", "H100-80GB"),
            ("a10g", "A10G"),
            ("NVIDIA L40S", "L40S"),
            ("NVIDIA-H100-SXM4-80GB", "H100-80GB"),
            ("Tesla-V100-DGXS-32GB", "V100-32GB"),
            ("l4-24gb", "L4"),
            ("RTXPRO6000BSE", "RTX-PRO-6000"),
            ("tpu-v5-lite-podslice", "TPU-v5e"),
        ] {
            assert_eq!(catalog.accelerator(name).map(|known| known.name), Some(canonical), "{name}");
        }
        for name in ["nvidia", "", "l4-48gb", "gpu", "a100x8"] {
            assert_eq!(catalog.accelerator(name), None, "{name}");
        }
        assert_eq!(catalog.mig("A100-40GB", "mig-1g.5gb").unwrap().max_instances, 7);
    }

    #[test]
    fn families_are_recognized_without_rows() {
        let catalog = Catalog::embedded();
        let is_family = |provider, name| matches!(catalog.recognize(provider, name), Recognized::Family { .. });
        assert!(is_family("aws", "p7.48xlarge"));
        assert!(is_family("azure", "Standard_ND256isr_GB300_v6"));
        assert_eq!(catalog.recognize("aws", "m5.large"), Recognized::Plain);
        assert_eq!(catalog.recognize("azure", "Standard_NP10s"), Recognized::Plain);
        assert!(matches!(catalog.recognize("gcp", "n1-standard-4"), Recognized::Host(_)));
        let named = |name| match catalog.recognize("openstack", name) {
            Recognized::Family { accelerator, .. } => accelerator.unwrap_or("some"),
            _ => "none",
        };
        for (name, accelerator) in [
            ("hall2.64c600g.A100", "A100-40GB"),
            ("gpu-t4-small", "T4"),
            ("m1.vgpu", "some"),
            ("p4.small", "none"),
            ("m1.large", "none"),
        ] {
            assert_eq!(named(name), accelerator, "{name}");
        }
        assert_eq!(catalog.recognize("aws", "x.a100"), Recognized::Plain);
    }

    #[test]
    fn own_prices_come_first_and_the_last_line_wins() {
        let text = "provider,machine,region,on_demand_usd_per_hour\naws,p5*,*,40\naws,p5.48xlarge,us-east-1,30\n";
        let catalog = Catalog::embedded().with_prices("own.csv", text).unwrap();
        let machine = catalog.machine("aws", "p5.48xlarge").unwrap();
        assert_eq!(catalog.quote(&machine, "us-east-1").unwrap().on_demand, Some(Money::from_usd(30.0)));
        assert_eq!(catalog.quote(&machine, "us-west-2").unwrap().on_demand, Some(Money::from_usd(40.0)));
        let wrong = Catalog::embedded().with_prices("own.csv", "provider,machine,price\naws,p5*,1\n");
        assert!(wrong.is_err_and(|error| error.message.contains("column `price`")));
    }

    #[test]
    fn machines_of_the_users_own_are_found_searched_and_verified() {
        let text = "provider,machine,accelerator,accelerator_count,on_demand_usd_per_hour,spot_usd_per_hour\n\
                    mine,box,H100-80GB,8,10,20\naws,p5.48xlarge,H100-80GB,8,1,\n";
        let catalog = Catalog::embedded().with_prices("own.csv", text).unwrap();
        assert!(catalog.providers().contains(&"mine"));
        assert_eq!(catalog.provider_of("box"), Some("mine"));
        let search = Search { accelerator: Some("H100"), providers: &["mine".to_owned()], ..Search::default() };
        assert_eq!(catalog.search(&search).len(), 1);
        let doubts = catalog.verify();
        assert!(
            doubts.iter().any(|it| it.to_string().starts_with("mine box *: spot costs $20, more than")),
            "{doubts:?}"
        );
        assert_eq!(catalog.machines().filter(|it| it.name == "p5.48xlarge").count(), 1);
    }
}

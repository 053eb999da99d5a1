//! Chooses the product of an architecture: by name, device id or CU count, else the default.

use super::{Arch, Sku};

/// What decided the choice of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectedBy {
    /// Its name.
    Name,
    /// Its PCI device id.
    DeviceId,
    /// Its number of compute units.
    CuCount,
    /// Nothing: the most common product.
    Default,
}

impl SelectedBy {
    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "sku",
            Self::DeviceId => "device_id",
            Self::CuCount => "cu_count",
            Self::Default => "default",
        }
    }
}

/// A product and how it was found.
#[derive(Debug, Clone)]
pub struct Selected<'a> {
    /// The product.
    pub sku: &'a Sku,
    /// What decided.
    pub by: SelectedBy,
    /// Further products that would have fitted equally, in table order.
    pub others: Vec<&'a Sku>,
}

impl Arch {
    /// The product to assume when nothing is known.
    pub fn default_sku(&self) -> Option<&Sku> {
        self.skus.iter().find(|sku| sku.default).or_else(|| self.skus.first())
    }

    /// The product of that name; blanks and case do not matter, `MI250` finds the device it is made of.
    pub fn sku(&self, name: &str) -> Option<&Sku> {
        let wanted = squeeze(name);
        self.skus.iter().find(|sku| {
            squeeze(&sku.sku) == wanted || sku.aliases.iter().any(|alias| squeeze(alias) == wanted)
        })
    }

    /// The product a runtime's product name means: the longest short name found in it as a word.
    /// `AMD Instinct MI300X OAM` is an MI300X.
    pub fn sku_in_product_name(&self, product: &str) -> Option<&Sku> {
        let product = squeeze(product);
        let found = |name: &String| {
            let name = squeeze(name);
            product.match_indices(&name).any(|(at, _)| {
                let after = product.get(at + name.len()..).and_then(|rest| rest.chars().next());
                // MI300 must not be found in MI300A, nor RX 7900 XT in RX 7900 XTX.
                !matches!(after, Some('a' | 'x' | 't')) && !after.is_some_and(|next| next.is_ascii_digit())
            })
        };
        self.skus
            .iter()
            .filter_map(|sku| {
                let names = std::iter::once(&sku.sku).chain(&sku.aliases);
                names.filter(|name| found(name)).map(|name| name.len()).max().map(|length| (length, sku))
            })
            .max_by_key(|(length, _)| *length)
            .map(|(_, sku)| sku)
    }

    /// The first product with that PCI device id.
    pub fn sku_by_device_id(&self, id: u32) -> Option<&Sku> {
        self.skus.iter().find(|sku| sku.device_ids.contains(&id))
    }

    /// Products with that many compute units, in table order.
    pub fn skus_with_cus(&self, cu_count: u32) -> Vec<&Sku> {
        self.skus.iter().filter(|sku| sku.cu_count == cu_count).collect()
    }

    /// Chooses by what is known, first hit: product name (short or as a runtime prints it), device id, CU
    /// count, default. `None` only for an architecture without products, which no file is.
    pub fn select(
        &self,
        product: Option<&str>,
        device_id: Option<u32>,
        cu_count: Option<u32>,
    ) -> Option<Selected<'_>> {
        if let Some(sku) = product.and_then(|name| self.sku(name).or_else(|| self.sku_in_product_name(name)))
        {
            return Some(Selected { sku, by: SelectedBy::Name, others: Vec::new() });
        }
        if let Some(sku) = device_id.and_then(|id| self.sku_by_device_id(id)) {
            return Some(Selected { sku, by: SelectedBy::DeviceId, others: Vec::new() });
        }
        let same = cu_count.map(|count| self.skus_with_cus(count)).unwrap_or_default();
        if let Some((sku, others)) = same.split_first() {
            return Some(Selected { sku, by: SelectedBy::CuCount, others: others.to_vec() });
        }
        Some(Selected { sku: self.default_sku()?, by: SelectedBy::Default, others: Vec::new() })
    }
}

fn squeeze(name: &str) -> String {
    name.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

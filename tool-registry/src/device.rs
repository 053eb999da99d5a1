//! Turns the architecture, product and CU arguments of tools into facts, with one wording for refusals.

use perfxpert_knowledge::arch::{self, Arch, SelectedBy, Sku};
use perfxpert_schemas::ErrorObject;

use crate::arguments::unknown_name;

/// A device whose facts are known.
pub(crate) struct Device {
    pub(crate) arch: &'static Arch,
    pub(crate) sku: &'static Sku,
    pub(crate) by: SelectedBy,
    /// What the choice of the product rests on, when it is not the only one possible.
    pub(crate) notes: Vec<String>,
}

/// The architecture of an id in any spelling.
///
/// # Errors
/// `unknown_name` with the sorted ids.
pub(crate) fn architecture(field: &str, id: &str) -> Result<&'static Arch, ErrorObject> {
    arch::find(id).ok_or_else(|| unknown_architecture(field, id, arch::KNOWN.iter().copied()))
}

/// The refusal of an architecture id that is not among `known`.
pub(crate) fn unknown_architecture<'a>(
    field: &str,
    id: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> ErrorObject {
    let mut error = unknown_name(field, id.trim(), known, "architecture");
    error.hint = "Use one of the known ids.".to_owned();
    error
}

/// The product of an architecture: by name, else by CU count, else the default.
///
/// # Errors
/// `unknown_name` for the architecture, or for a product that is not of it.
pub(crate) fn device(gfx_id: &str, sku: Option<&str>, cu_count: Option<u32>) -> Result<Device, ErrorObject> {
    let arch = architecture("gfx_id", gfx_id)?;
    let by_name = match sku {
        Some(name) => Some(arch.sku(name).ok_or_else(|| {
            let known: Vec<&str> = arch.skus.iter().map(|sku| sku.sku.as_str()).collect();
            let mut error = unknown_name("sku", name.trim(), known, "product");
            error.hint = format!("Use one of the products of {}.", arch.gfx_id);
            error
        })?),
        None => None,
    };
    if let Some(sku) = by_name {
        return Ok(Device { arch, sku, by: SelectedBy::Name, notes: Vec::new() });
    }
    let found = arch.select(None, None, cu_count).ok_or_else(ErrorObject::internal)?;
    let mut notes = Vec::new();
    if let (Some(count), SelectedBy::Default) = (cu_count, found.by) {
        notes.push(format!(
            "No {} product has {count} CUs; the figures are of {} ({} CUs).",
            arch.gfx_id, found.sku.sku, found.sku.cu_count
        ));
    }
    if !found.others.is_empty() {
        let others: Vec<&str> = found.others.iter().map(|sku| sku.sku.as_str()).collect();
        notes.push(format!(
            "{} has {} CUs as well; name the product in sku to get its figures.",
            others.join(", "),
            found.sku.cu_count
        ));
    }
    Ok(Device { arch, sku: found.sku, by: found.by, notes })
}

//! Tables and small parts that several sections share.

use super::html::Html;
use crate::render::number::count;

/// A column: heading and whether it holds numbers.
pub(super) type Column<'a> = (&'a str, bool);

/// Opens a table inside its scrolling box, with caption and head.
pub(super) fn open(page: &mut Html, caption: &str, columns: &[Column<'_>]) {
    page.open("div", &[("class", "scroll"), ("tabindex", "0"), ("role", "group"), ("aria-label", caption)])
        .open("table", &[])
        .leaf("caption", &[], caption)
        .open("thead", &[])
        .open("tr", &[]);
    for (heading, numeric) in columns {
        let class: &[(&str, &str)] =
            if *numeric { &[("scope", "col"), ("class", "n")] } else { &[("scope", "col")] };
        page.leaf("th", class, heading);
    }
    page.close("tr").close("thead").open("tbody", &[]);
}

/// Closes a table opened by [`open`].
pub(super) fn close(page: &mut Html, left_out: u64) {
    page.close("tbody").close("table").close("div");
    if left_out > 0 {
        page.leaf("p", &[("class", "more")], &format!("and {} more", count(left_out)));
    }
}

/// One row of plain cells under the columns of its table.
pub(super) fn row(page: &mut Html, columns: &[Column<'_>], cells: &[String]) {
    page.open("tr", &[]);
    for ((_, numeric), cell) in columns.iter().zip(cells) {
        page.leaf("td", if *numeric { &[("class", "n")] } else { &[("class", "name")] }, cell);
    }
    page.close("tr");
}

/// A whole table of plain cells.
pub(super) fn whole(
    page: &mut Html,
    caption: &str,
    columns: &[Column<'_>],
    rows: &[Vec<String>],
    total: u64,
) {
    open(page, caption, columns);
    for cells in rows {
        row(page, columns, cells);
    }
    close(page, total.saturating_sub(rows.len() as u64));
}

/// A command with its Copy button.
pub(super) fn command(page: &mut Html, command: &str) {
    page.open("div", &[("class", "cmd")]).leaf("pre", &[], command);
    copy(page, command);
    page.close("div");
}

/// A Copy button.
pub(super) fn copy(page: &mut Html, what: &str) {
    page.leaf("button", &[("type", "button"), ("class", "no-js-hide"), ("data-copy", what)], "Copy");
}

/// A number as an SVG coordinate, 1 decimal.
pub(super) fn coordinate(value: f64) -> String {
    format!("{value:.1}")
}

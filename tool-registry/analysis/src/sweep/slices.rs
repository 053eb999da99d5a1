//! A machine's run cut into equal slices before its length is known: slices double in width when they run out.

use crate::profile::{TimeParts, Timeline};
use crate::units::Nanos;

/// Slices kept while sweeping; at least half of them are in use, 40 for each of the hundred handed out.
const FINE: usize = 8192;

/// What a stretch of time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Kernel,
    ExposedCopy,
    /// Neither kernel nor copy.
    Waiting,
    /// The part of waiting under a host call.
    HostApi,
}

/// Exclusive parts over time.
#[derive(Clone, Debug)]
pub(crate) struct Slices {
    start: i64,
    /// Slices are 2^shift ns wide.
    shift: u32,
    parts: [Vec<u64>; 4],
}

impl Slices {
    /// The first slice begins with the machine's first event.
    pub(crate) fn new(start: i64) -> Self {
        Self { start, shift: 0, parts: std::array::from_fn(|_| vec![0; FINE]) }
    }

    pub(crate) fn add(&mut self, part: Part, start: i64, end: i64) {
        if end <= start || start < self.start {
            return;
        }
        let (from, to) = (self.start.abs_diff(start), self.start.abs_diff(end));
        while (to - 1) >> self.shift >= FINE as u64 {
            self.widen();
        }
        let shift = self.shift;
        let Some(row) = self.parts.get_mut(part as usize) else { return };
        let (first, last) = (from >> shift, (to - 1) >> shift);
        let Ok(skip) = usize::try_from(first) else { return };
        if first == last {
            if let Some(slice) = row.get_mut(skip) {
                *slice += to - from;
            }
            return;
        }
        let Ok(count) = usize::try_from(last - first + 1) else { return };
        for (at, slice) in (first..).zip(row.iter_mut().skip(skip).take(count)) {
            let (low, high) = (at << shift, (at + 1) << shift);
            *slice += to.min(high) - from.max(low);
        }
    }

    fn widen(&mut self) {
        self.shift += 1;
        for row in &mut self.parts {
            let halved: Vec<u64> = row.chunks(2).map(|pair| pair.iter().sum()).collect();
            row.clear();
            row.extend(halved);
            row.resize(FINE, 0);
        }
    }

    /// `count` equal slices from the first event to `end`.
    pub(crate) fn timeline(&self, end: i64, count: u64) -> Timeline {
        let span = Nanos::between(self.start, end);
        let mut slices = vec![TimeParts::default(); usize::try_from(count).unwrap_or_default()];
        let [kernel, copy, waiting, api] = &self.parts;
        for (row, part) in [
            (kernel, Part::Kernel),
            (copy, Part::ExposedCopy),
            (waiting, Part::Waiting),
            (api, Part::HostApi),
        ] {
            let mut fine = Reader { row, width: 1 << self.shift, at: 0, before: 0 };
            let mut done = 0;
            for (slice, number) in slices.iter_mut().zip(1_u128..) {
                let edge = u128::from(span.0) * number / u128::from(count.max(1));
                // The last fine slice may reach past the end; all of it belongs to the last slice.
                let edge = if number == u128::from(count) {
                    u64::MAX
                } else {
                    u64::try_from(edge).unwrap_or(u64::MAX)
                };
                let upto = fine.upto(edge);
                let value = Nanos(upto.saturating_sub(done));
                done = upto.max(done);
                match part {
                    Part::Kernel => slice.kernel = value,
                    Part::ExposedCopy => slice.exposed_copy = value,
                    Part::Waiting => slice.idle = value,
                    Part::HostApi => {
                        slice.host_api = value.min(slice.idle);
                        slice.idle = slice.idle.saturating_sub(slice.host_api);
                    }
                }
            }
        }
        Timeline { start: self.start, span, slices, approximate: self.shift > 0 }
    }
}

/// Running sum over fine slices, split in proportion inside one.
struct Reader<'a> {
    row: &'a [u64],
    width: u64,
    at: usize,
    before: u64,
}

impl Reader<'_> {
    fn upto(&mut self, edge: u64) -> u64 {
        while let Some(&value) = self.row.get(self.at) {
            if (self.at as u64 + 1).saturating_mul(self.width) > edge {
                let inside = edge.saturating_sub(self.at as u64 * self.width);
                let part = u128::from(value) * u128::from(inside) / u128::from(self.width);
                return self.before + u64::try_from(part).unwrap_or(value);
            }
            self.before += value;
            self.at += 1;
        }
        self.before
    }
}

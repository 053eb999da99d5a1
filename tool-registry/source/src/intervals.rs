//! Answers "what is the innermost range around this offset" in logarithmic time.

/// The innermost of a set of ranges at every offset; of two that overlap, the one that starts later.
pub(crate) struct Innermost {
    /// Offsets at which the answer changes, ascending, with the answer from there on.
    changes: Vec<(usize, Option<usize>)>,
}

impl Innermost {
    /// Ranges `(start, end)`, end exclusive; the answer is a position in this list.
    pub(crate) fn new(ranges: &[(usize, usize)]) -> Self {
        let mut order: Vec<usize> = (0..ranges.len()).collect();
        let range = |at: usize| ranges.get(at).copied().unwrap_or((0, 0));
        order.sort_by_key(|&at| (range(at).0, std::cmp::Reverse(range(at).1)));
        let mut edges: Vec<usize> = ranges.iter().flat_map(|(start, end)| [*start, *end]).collect();
        edges.sort_unstable();
        edges.dedup();
        let mut changes = Vec::with_capacity(edges.len());
        let mut open: Vec<usize> = Vec::new();
        let mut next = order.into_iter().peekable();
        for edge in edges {
            while let Some(at) = next.next_if(|&at| range(at).0 <= edge) {
                open.push(at);
            }
            while open.last().is_some_and(|&at| range(at).1 <= edge) {
                open.pop();
            }
            changes.push((edge, open.last().copied()));
        }
        Self { changes }
    }

    /// The innermost range around an offset.
    pub(crate) fn at(&self, offset: usize) -> Option<usize> {
        let after = self.changes.partition_point(|(edge, _)| *edge <= offset);
        self.changes.get(after.checked_sub(1)?)?.1
    }
}

#[cfg(test)]
mod tests {
    //! Ranges small enough to answer by eye.

    use super::*;

    #[test]
    fn nested_and_overlapping_ranges() {
        let ranges = Innermost::new(&[(0, 100), (10, 20), (12, 15), (18, 30)]);
        let truth = [
            (0, Some(0)),
            (10, Some(1)),
            (13, Some(2)),
            (15, Some(1)),
            (19, Some(3)),
            (25, Some(3)),
            (99, Some(0)),
            (100, None),
        ];
        for (offset, innermost) in truth {
            assert_eq!(ranges.at(offset), innermost, "{offset}");
        }
        assert_eq!(Innermost::new(&[]).at(5), None);
    }
}

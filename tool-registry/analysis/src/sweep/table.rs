//! A vector indexed by interned ids that grows on first use.

/// Rows by position; positions nobody asked for hold the default.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table<T> {
    rows: Vec<T>,
    // Handed out for positions no real id can have, so that looking up never fails.
    spare: T,
}

/// Ids are dense; anything beyond is the reserved "none".
const MAX: usize = u32::MAX as usize;

impl<T: Default> Table<T> {
    #[inline]
    pub(crate) fn at(&mut self, position: usize) -> &mut T {
        if position >= self.rows.len() {
            if position >= MAX {
                return &mut self.spare;
            }
            self.rows.resize_with(position + 1, T::default);
        }
        self.rows.get_mut(position).unwrap_or(&mut self.spare)
    }

    pub(crate) fn get(&self, position: usize) -> Option<&T> {
        self.rows.get(position)
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.rows.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.rows.iter_mut()
    }
}

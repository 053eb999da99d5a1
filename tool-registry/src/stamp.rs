//! When an answer was made: the machine's clock, or `SOURCE_DATE_EPOCH` for answers that must not differ.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Environment variable, seconds since 1970.
const FIXED: &str = "SOURCE_DATE_EPOCH";
const DAY: u64 = 86_400;

/// The moment a call began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    seconds: u64,
    /// `None` when the moment is fixed: then every duration is 0.
    began: Option<Instant>,
}

impl Stamp {
    /// Now.
    pub(crate) fn now() -> Self {
        let fixed = std::env::var(FIXED).ok().and_then(|text| text.trim().parse().ok());
        match fixed {
            Some(seconds) => Self { seconds, began: None },
            None => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Self { seconds: since.as_secs(), began: Some(Instant::now()) }
            }
        }
    }

    /// RFC 3339, UTC, whole seconds.
    pub(crate) fn timestamp(self) -> String {
        rfc3339(self.seconds)
    }

    /// Milliseconds since then.
    pub(crate) fn elapsed_ms(self) -> u64 {
        self.began.map_or(0, |began| u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}

fn rfc3339(seconds: u64) -> String {
    let (days, rest) = (seconds / DAY, seconds % DAY);
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// Year, month and day of a number of days since 1970-01-01, by eras of 400 years that begin on 1 March (Howard Hinnant,
/// "chrono-Compatible Low-Level Date Algorithms").
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    #[test]
    fn moments_as_date_prints_them() {
        // date -u -d @N +%FT%TZ
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(1_768_469_400), "2026-01-15T09:30:00Z");
        assert_eq!(rfc3339(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(rfc3339(951_868_799), "2000-02-29T23:59:59Z");
        assert_eq!(rfc3339(4_107_542_399), "2100-02-28T23:59:59Z");
    }
}

//! The ways in which people write numbers: `2.345,67`, `12'500`, `$52,300`, `5,07 %`.
//!
//! A number is read in one form: the mark before its decimals, and the one between its thousands,
//! if it has any. Currency and percent signs are left out in every form: 5 % is 5. An amount in round
//! brackets is a loss, as in accounts: (1,234) is -1234. A minus may stand behind its number, where SAP
//! writes it: 321- is -321. What fits no form is no number, and never half
//! of one.

/// Currency signs, and codes of currencies, as they stand before or behind an amount; of two that
/// begin alike the longer one first.
const CURRENCIES: [&str; 54] = [
    "US$", "NZ$", "HK$", "A$", "C$", "R$", "S$", "$", "€", "£", "¥", "₹", "₽", "₩", "₪", "₺", "₫",
    "₴", "₦", "₱", "฿", "¢", "USD", "EUR", "GBP", "CHF", "JPY", "CAD", "AUD", "NZD", "INR", "CNY",
    "SEK", "NOK", "DKK", "PLN", "BRL", "MXN", "ZAR", "SGD", "HKD", "CZK", "HUF", "RON", "TRY",
    "RUB", "KRW", "Fr.", "Rs.", "Rs", "kr.", "kr", "zł", "Kč",
];
/// The signs of what is below zero.
const MINUS: [char; 2] = ['-', '\u{2212}'];
/// The longest text that is looked at as a number in such a form.
const LONGEST: usize = 64;

/// The marks of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberForm {
    /// The mark before the decimals.
    pub decimal: char,
    /// The mark between groups of digits, if there may be one.
    pub thousands: Option<char>,
}

impl NumberForm {
    /// The form in which programs write numbers: a point, and nothing between thousands.
    pub const PLAIN: NumberForm = NumberForm {
        decimal: '.',
        thousands: None,
    };

    /// Returns the number that `cell` says.
    pub fn number(self, cell: &str) -> Option<f64> {
        if self == NumberForm::PLAIN
            && let Ok(number) = cell.parse()
        {
            return Some(number);
        }
        self.plain(cell)?.parse().ok()
    }

    /// Returns the number that `cell` says, as [`NumberForm::PLAIN`] has it, without signs of its
    /// unit.
    pub fn plain(self, cell: &str) -> Option<String> {
        if cell.len() > LONGEST || !cell.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let (loss, rest) = self.without_brackets(cell.trim());
        let (first, rest) = without_sign(rest);
        let (second, rest) = without_sign(without_units(rest).1);
        let (behind, rest) = match rest.strip_suffix(MINUS) {
            Some(rest) => (Some('-'), rest.trim_end()),
            None => (None, rest),
        };
        let mut signs = [loss, first, second, behind].into_iter().flatten();
        let mut plain = String::with_capacity(cell.len());
        if signs.next() == Some('-') {
            plain.push('-');
        }
        if signs.next().is_some() {
            return None;
        }
        self.digits(rest, &mut plain).then_some(plain)
    }

    /// Appends the digits of an unsigned number; false where `text` is none.
    fn digits(self, text: &str, plain: &mut String) -> bool {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (text, None),
        };
        let (whole, fraction) = mantissa.split_once(self.decimal).unwrap_or((mantissa, ""));
        let groups: Vec<&str> = whole.split(|mark| self.is_thousands(mark)).collect();
        let is_grouped = match groups.as_slice() {
            [_] => true,
            // Groups of two stand before the last three digits in India, between commas.
            [first, middle @ .., last] => {
                let size = match self.thousands {
                    Some(',') => middle.first().map_or(3, |group| group.len()),
                    _ => 3,
                };
                (1..=3).contains(&first.len())
                    && !first.starts_with('0')
                    && (2..=3).contains(&size)
                    && middle.iter().all(|group| group.len() == size)
                    && last.len() == 3
            }
            [] => false,
        };
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_number = is_grouped
            && groups.iter().all(|group| is_digits(group))
            && is_digits(fraction)
            && !(whole.is_empty() && fraction.is_empty());
        let power = exponent.map(|exponent| exponent.strip_prefix(['-', '+']).unwrap_or(exponent));
        if !is_number || power.is_some_and(|power| power.is_empty() || !is_digits(power)) {
            return false;
        }
        groups.iter().for_each(|group| plain.push_str(group));
        for (mark, digits) in [
            ('.', Some(fraction).filter(|it| !it.is_empty())),
            ('e', exponent),
        ] {
            if let Some(digits) = digits {
                plain.push(mark);
                plain.push_str(digits);
            }
        }
        true
    }

    /// Returns `text` without the brackets that accounts have around a loss, which are its sign.
    /// Around decimals behind a comma they are those of a range, `(20,30)`, unless thousands have a
    /// mark.
    fn without_brackets(self, text: &str) -> (Option<char>, &str) {
        let inside = text
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(')'));
        let is_loss = |inside: &&str| {
            self.decimal == '.' || inside.contains(|mark: char| self.is_thousands(mark))
        };
        match inside.filter(is_loss) {
            Some(inside) => (Some('-'), inside.trim()),
            None => (None, text),
        }
    }

    fn is_thousands(self, mark: char) -> bool {
        match self.thousands {
            Some(' ') => is_blank(mark),
            Some('\'') => matches!(mark, '\'' | '’'),
            thousands => thousands == Some(mark),
        }
    }
}

/// Returns whether `mark` is a blank that may stand within a number: also one that does not break,
/// or is narrow.
fn is_blank(mark: char) -> bool {
    matches!(mark, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}')
}

fn without_sign(text: &str) -> (Option<char>, &str) {
    match text.strip_prefix(MINUS) {
        Some(rest) => (Some('-'), rest.trim_start()),
        None => match text.strip_prefix('+') {
            Some(rest) => (Some('+'), rest.trim_start()),
            None => (None, text),
        },
    }
}

/// Returns whether a minus stands behind the number that `cell` says.
pub(crate) fn has_minus_behind(cell: &str) -> bool {
    without_units(cell.trim()).1.ends_with(MINUS)
}

/// Returns the sign of the unit of a number, such as `%` or `€`, as it stands in `cell`.
pub(crate) fn unit_of(cell: &str) -> Option<&str> {
    let cell = cell.trim().trim_matches(['(', ')']);
    without_units(without_sign(cell).1).0
}

/// Returns the one way in which the sign of a unit is written here: the code of a currency where
/// signs and codes say the same.
pub(crate) fn currency_of(unit: &str) -> &'static str {
    match unit {
        "$" | "US$" => "USD",
        "€" => "EUR",
        "£" => "GBP",
        "¥" => "JPY",
        "₹" | "Rs" | "Rs." => "INR",
        "Fr." => "CHF",
        "A$" => "AUD",
        "C$" => "CAD",
        "NZ$" => "NZD",
        "HK$" => "HKD",
        "S$" => "SGD",
        "R$" => "BRL",
        "zł" => "PLN",
        "Kč" => "CZK",
        "₺" => "TRY",
        "₽" => "RUB",
        "₩" => "KRW",
        "kr." => "kr",
        other => CURRENCIES
            .into_iter()
            .find(|currency| *currency == other)
            .unwrap_or("%"),
    }
}

/// Returns one sign of a unit, a currency or percent, that stands in `text`, and `text` without it.
fn without_units(text: &str) -> (Option<&str>, &str) {
    let before = CURRENCIES
        .iter()
        .find(|currency| text.starts_with(**currency));
    if let Some(currency) = before {
        let (unit, rest) = text.split_at(currency.len());
        return (Some(unit), rest.trim());
    }
    let mut units = CURRENCIES.iter().copied().chain(["%"]);
    match units.find(|unit| text.ends_with(unit)) {
        Some(unit) => {
            let (rest, unit) = text.split_at(text.len() - unit.len());
            (Some(unit), rest.trim())
        }
        None => (None, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(decimal: char, thousands: impl Into<Option<char>>) -> NumberForm {
        NumberForm {
            decimal,
            thousands: thousands.into(),
        }
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (cell, form, plain) in [
            ("2.345,67", form(',', '.'), "2345.67"),
            ("12.500", form(',', '.'), "12500"),
            ("-1.234.567,5", form(',', '.'), "-1234567.5"),
            ("7", form(',', '.'), "7"),
            ("5,07 %", form(',', '.'), "5.07"),
            ("5,07\u{a0}%", form(',', None), "5.07"),
            ("1.234,50 €", form(',', '.'), "1234.50"),
            ("$52,300", form('.', ','), "52300"),
            ("-$1,200.25", form('.', ','), "-1200.25"),
            ("$-3", NumberForm::PLAIN, "-3"),
            ("\u{2212}3.5", NumberForm::PLAIN, "-3.5"),
            ("EUR 500", NumberForm::PLAIN, "500"),
            ("Fr. 86'111", form('.', '\''), "86111"),
            ("A$1,200", form('.', ','), "1200"),
            ("500 kr", NumberForm::PLAIN, "500"),
            ("(1,234)", form('.', ','), "-1234"),
            ("($1,234.50)", form('.', ','), "-1234.50"),
            ("(1.234,50)", form(',', '.'), "-1234.50"),
            ("12'500.5", form('.', '\''), "12500.5"),
            ("12’500", form('.', '\''), "12500"),
            ("1 234 567,8", form(',', ' '), "1234567.8"),
            ("1\u{202f}234", form(',', ' '), "1234"),
            ("12,34,567", form('.', ','), "1234567"),
            ("1,5E+03", form(',', None), "1.5e+03"),
            (",5", form(',', None), ".5"),
            ("+4", form(',', None), "4"),
            ("321-", NumberForm::PLAIN, "-321"),
            ("321,50 -", form(',', None), "-321.50"),
            ("1.234,50-", form(',', '.'), "-1234.50"),
            ("1.234,50- EUR", form(',', '.'), "-1234.50"),
            ("€ 5\u{2212}", NumberForm::PLAIN, "-5"),
        ] {
            assert_eq!(form.plain(cell).as_deref(), Some(plain), "{cell}");
            assert_eq!(form.number(cell), plain.parse().ok(), "{cell}");
        }
    }

    #[test]
    fn what_fits_no_form_is_no_number() {
        for (cell, form) in [
            ("12.5", form(',', '.')),
            ("0.500", form(',', '.')),
            ("1234.567", form(',', '.')),
            ("1.23.456", form(',', '.')),
            ("1.234.5678", form(',', '.')),
            ("2.345,67", NumberForm::PLAIN),
            ("$52,300", NumberForm::PLAIN),
            ("1,2,3", form(',', '.')),
            ("31.12.2019", form(',', '.')),
            ("--3", NumberForm::PLAIN),
            ("-3-", NumberForm::PLAIN),
            ("(3-)", NumberForm::PLAIN),
            ("3--", NumberForm::PLAIN),
            ("3+", NumberForm::PLAIN),
            ("1e-", NumberForm::PLAIN),
            ("20-30", NumberForm::PLAIN),
            ("-", NumberForm::PLAIN),
            ("(-3)", NumberForm::PLAIN),
            ("(20,30)", form(',', '.')),
            ("(20, 30)", form('.', ',')),
            ("[3]", NumberForm::PLAIN),
            ("-$-3", NumberForm::PLAIN),
            ("5 % %", NumberForm::PLAIN),
            ("MAT 101", NumberForm::PLAIN),
            ("1e", NumberForm::PLAIN),
            (".", NumberForm::PLAIN),
            ("%", NumberForm::PLAIN),
            ("", NumberForm::PLAIN),
            ("nan", form(',', '.')),
        ] {
            assert_eq!(form.number(cell), None, "{cell}");
        }
    }
}

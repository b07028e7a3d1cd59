//! Recognises dates and times, as distinct from ids.

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Words in dates and times: halves of a day, zones, abbreviated days of a week.
const OTHERS: [&str; 13] =
    ["t", "z", "am", "pm", "utc", "gmt", "mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// Whether a text is a date or a time: `2024-01-31`, `31.1.2024`, `1/31/24`, `10:35`, `2024-01`, `31 Jan 2024`, and dates
/// with times.
pub(super) fn is_time(text: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || " -+/.:,".contains(c);
    if text.len() > 40
        || !text.starts_with(|c: char| c.is_ascii_alphanumeric())
        || !text.chars().all(is_sign)
    {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    let mut letters =
        lower.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let is_month = |word: &str| {
        word == "sept" || MONTHS.iter().any(|month| word == *month || word == &month[..3])
    };
    let is_other = |word: &str| {
        OTHERS.contains(&word)
            || word.ends_with("day") && word.get(..3).is_some_and(|day| OTHERS.contains(&day))
    };
    if !letters.clone().all(|word| is_month(word) || is_other(word)) {
        return false;
    }
    let has_month = letters.any(is_month);
    let begin = &lower[..lower.find([' ', 't']).filter(|_| !has_month).unwrap_or(lower.len())];
    match has_month {
        true => {
            lower.contains(|c: char| c.is_ascii_digit()) && lower.contains([' ', '-', '/', '.'])
        }
        false => {
            is_date(begin) || is_clock(begin.trim_end_matches(|c: char| c.is_ascii_alphabetic()))
        }
    }
}

/// Whether a text is a date in numbers.
fn is_date(text: &str) -> bool {
    let parts = |sign: char| -> Option<Vec<(usize, u32)>> {
        let number = |part: &str| Some((part.len(), part.parse::<u32>().ok()?));
        text.split(sign).map(number).collect()
    };
    let is_day = |(length, day): (usize, u32)| length <= 2 && (1..=31).contains(&day);
    let is_month = |(length, month): (usize, u32)| length <= 2 && (1..=12).contains(&month);
    let is_year = |(length, year): (usize, u32)| length == 4 && (1800..=2200).contains(&year);
    ['-', '.', '/'].into_iter().any(|sign| match parts(sign).as_deref() {
        Some(&[year, month]) => sign != '.' && is_year(year) && month.0 == 2 && is_month(month),
        Some(&[a, b, c]) if is_year(a) => is_month(b) && is_day(c),
        Some(&[a, b, c]) => {
            let in_order = is_month(a) && is_day(b) || is_day(a) && is_month(b);
            in_order && (is_year(c) || sign == '/' && c.0 == 2)
        }
        _ => false,
    })
}

/// Whether a text is a time of a day.
fn is_clock(text: &str) -> bool {
    let text = text.split(['+', '-', ' ']).next().unwrap_or(text);
    let parts: Vec<&str> = text.split(':').collect();
    let most = [23, 59, 59];
    let is_part = |(part, most): (&&str, u32)| {
        let whole = part.split('.').next().unwrap_or(part);
        whole.len() <= 2 && whole.parse::<u32>().is_ok_and(|number| number <= most)
    };
    matches!(parts.len(), 2 | 3) && parts[1].len() >= 2 && parts.iter().zip(most).all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_told_from_codes() {
        for time in [
            "2024-01-31",
            "2024-01-31T10:35:00Z",
            "2024-01-31 10:35:00.250+01:00",
            "31.1.2024",
            "1/31/24",
            "2024/01/31",
            "2024-01",
            "10:35",
            "10:35:19",
            "9:05 pm",
            "31 Jan 2024",
            "Mon, 5 February 2024 10:00:00 GMT",
            "05-Mar-2019",
        ] {
            assert!(is_time(time), "{time}");
        }
        for code in [
            "10.1000/182",
            "555-1234",
            "123-45-6789",
            "10.0.0.1",
            "1.2.3",
            "a1",
            "jan",
            "2024",
            "may2",
            "chr1:100",
            "X17",
            "99:99",
            "1 2",
            "",
            "漢字 2024-01-01",
        ] {
            assert!(!is_time(code), "{code}");
        }
    }
}

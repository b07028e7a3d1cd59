//! The profiles of AWS: `~/.aws/credentials` and `~/.aws/config`.

use crate::small::{LARGEST_TEXT, read_small_text};
use std::env::{home_dir, var_os};
use std::io::{self, ErrorKind};
use std::path::PathBuf;

/// What is read of a profile; the names are those of the variables in lower case.
const KEYS: [&str; 3] = ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"];

/// Returns the credentials and the region of the profile `AWS_PROFILE`, or of `default` if there is one.
///
/// # Errors
/// If the variable names a profile that is in neither file, or a file cannot be read.
pub(super) fn of_environment() -> io::Result<Vec<(String, String)>> {
    let named = var_os("AWS_PROFILE").and_then(|name| name.into_string().ok());
    let named = named.filter(|name| !name.is_empty());
    let name = named.as_deref().unwrap_or("default");
    let credentials = section(&text("AWS_SHARED_CREDENTIALS_FILE", "credentials")?, &[name]);
    let titles = [name, &format!("profile {name}")];
    let config = section(&text("AWS_CONFIG_FILE", "config")?, &titles);
    if named.is_some() && credentials.is_none() && config.is_none() {
        let sentence =
            "the profile that AWS_PROFILE names is not in ~/.aws/credentials: check its name";
        return Err(io::Error::new(ErrorKind::InvalidInput, sentence));
    }
    let both = config.unwrap_or_default().into_iter().chain(credentials.unwrap_or_default());
    let settings = both.filter_map(|(key, value)| match key.as_str() {
        "region" => Some(("aws_region".to_owned(), value)),
        key if KEYS.contains(&key) => Some((key.to_owned(), value)),
        _ => None,
    });
    Ok(settings.collect())
}

/// Returns the text of the file that a variable names, or of one in `~/.aws`; of a file that is not there, nothing.
fn text(variable: &str, usual: &str) -> io::Result<String> {
    let usual = || home_dir().map(|home| home.join(".aws").join(usual));
    let Some(path) = var_os(variable).map(PathBuf::from).or_else(usual) else {
        return Ok(String::new());
    };
    if !path.exists() {
        return Ok(String::new());
    }
    let read = read_small_text(&path, LARGEST_TEXT, "profiles of AWS");
    read.map_err(|error| io::Error::new(ErrorKind::InvalidInput, error.to_string()))
}

/// Returns the settings of the first section of a text with one of these titles.
fn section(text: &str, titles: &[&str]) -> Option<Vec<(String, String)>> {
    let mut found: Option<Vec<(String, String)>> = None;
    for line in text.lines().map(str::trim) {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(_) if found.is_some() => break,
            Some(title) if titles.contains(&title.trim()) => found = Some(Vec::new()),
            Some(_) => {}
            None => {
                if let (Some(found), Some((key, value))) = (&mut found, line.split_once('=')) {
                    found.push((key.trim().to_ascii_lowercase(), value.trim().to_owned()));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::section;

    #[test]
    fn a_section_has_the_settings_up_to_the_next() {
        let text = "# comment\n[default]\naws_access_key_id = a\n\n[ profile b ]\nRegion=eu-west-1\nempty\n";
        let of = |title: &str| section(text, &[title]);
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(of("default"), Some(vec![pair("aws_access_key_id", "a")]));
        assert_eq!(of("profile b"), Some(vec![pair("region", "eu-west-1")]));
        assert_eq!(of("b"), None);
    }
}

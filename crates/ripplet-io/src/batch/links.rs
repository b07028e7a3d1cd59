//! Links in an archive: the entries that they lead to, by the paths there.

/// Links that lead to one another at most, as on Linux.
pub(super) const MOST_HOPS: usize = 40;

/// Returns an entry's path without `.` and `..`; none if it leads out of the archive.
pub(super) fn plain_path(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the path in the archive that the symbolic link `name` leads to; none if it leads out of it.
pub(super) fn led_to(name: &str, target: &str) -> Option<String> {
    if target.starts_with('/') {
        return None;
    }
    let folder = name.rfind('/').map_or("", |slash| &name[..slash]);
    plain_path(&format!("{folder}/{target}"))
}

/// Returns the error of a link to no entry of the archive.
pub(super) fn leads_nowhere(target: &str) -> String {
    format!(
        "it is a link to {target}, which is no file of the archive that is read with it: unpack the archive and read the \
         folder, or pack it with the files that its links lead to (tar --dereference)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_within_the_archive_or_nowhere() {
        let some = |path: &str| Some(path.to_owned());
        assert_eq!(plain_path("./x//y/../a.txt"), some("x/a.txt"));
        assert_eq!(led_to("x/a.txt", "b.txt"), some("x/b.txt"));
        assert_eq!(led_to("x/a.txt", "../y/./b.txt"), some("y/b.txt"));
        assert_eq!(led_to("a.txt", "y/b.txt"), some("y/b.txt"));
        for out in ["../b.txt", "../../b.txt", "/b.txt", "x/../../b.txt"] {
            assert_eq!(led_to("a.txt", out), None, "{out}");
        }
    }
}

//! What members are called when they are written as files: names that no file system minds and that lead nowhere else.

use super::{Contents, Format, Member};
use crate::index::Index;

/// Bytes of a name, at most.
const LIMIT: usize = 200;

/// `name` as the name of a file: no separators, no control characters, nothing that a system has a meaning for.
pub fn safe(name: &str) -> String {
    let safe = name.chars().map(|c| match c {
        '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | '\u{fffd}' => '_',
        c if c.is_control() => '_',
        // Marks that turn the direction of text or cannot be seen.
        '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => '_',
        c => c,
    });
    let mut safe: String = safe.collect();
    while safe.len() > LIMIT {
        safe.pop();
    }
    let kept = safe.trim_end_matches(['.', ' ']).len();
    safe.truncate(kept);
    if safe.starts_with(['.', '-', '~']) {
        safe.replace_range(..1, "_");
    }
    if is_device(&safe) {
        safe.insert(0, '_');
    }
    match safe.is_empty() {
        true => "_".into(),
        false => safe,
    }
}

/// Whether Windows opens a device under that name, whatever it ends with (Naming Files, Paths, and Namespaces).
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end();
    let is = |device: &str| stem.eq_ignore_ascii_case(device);
    let numbered = |device: &str| {
        let number = stem.get(3..).filter(|number| number.len() == 1);
        let is_named = stem
            .get(..3)
            .is_some_and(|stem| stem.eq_ignore_ascii_case(device));
        is_named && number.is_some_and(|number| number.as_bytes()[0].is_ascii_digit())
    };
    ["con", "prn", "aux", "nul"].into_iter().any(is) || ["com", "lpt"].into_iter().any(numbered)
}

/// What the names of files of `format` end with.
pub fn extension(format: Format) -> &'static str {
    match format {
        Format::Cubin => "cubin",
        Format::CudaCoredump => "cudacore",
        Format::Amdgpu => "co",
        Format::Ptx => "ptx",
        Format::LlvmBitcode => "bc",
        Format::Nvvm => "ltoir",
        Format::TileIr => "tileir",
        Format::Spirv => "spv",
        Format::Fatbin => "fatbin",
        Format::OffloadBundle => "hipfb",
        _ => "",
    }
}

impl Contents {
    /// A name for a file of each member of a file called `base`, each another where capitals are small letters, too. Entries of fatbins are called as cuobjdump calls them:
    /// by their identifier, else by `base` and their number, counted for each kind; then the architecture.
    pub fn file_names(&self, base: &str) -> Vec<String> {
        let mut known = Index::default();
        let mut counts: Vec<(&str, u32)> = Vec::new();
        let base = safe(base);
        let mut name = |index: usize, member: &Member| {
            let extension = extension(member.format);
            let dot = if extension.is_empty() { "" } else { "." };
            let stem = if member.is_padded {
                let of_kind = counts.iter().position(|(kind, _)| *kind == extension);
                let at = of_kind.unwrap_or(counts.len());
                if at == counts.len() {
                    counts.push((extension, 0));
                }
                counts[at].1 += 1;
                let stem = match &member.identifier {
                    // The name of a source without what it ends with.
                    Some(identifier) => {
                        let stem = identifier.rsplit_once('.').map(|(stem, _)| stem);
                        safe(stem.filter(|stem| !stem.is_empty()).unwrap_or(identifier))
                    }
                    None => format!("{base}.{}", counts[at].1),
                };
                match &member.target {
                    // cuobjdump has no word for machine code of a family.
                    Some(target) if member.format == Format::Cubin => {
                        format!("{stem}.{}", target.trim_end_matches('f'))
                    }
                    Some(target) => format!("{stem}.{target}"),
                    None => stem,
                }
            } else {
                let path = safe(&format!(
                    "{base}.{}",
                    self.path(index as u32).replace("!/", ".")
                ));
                match path.strip_suffix(&format!("{dot}{extension}")) {
                    Some(stem) if !stem.is_empty() => stem.into(),
                    _ => path,
                }
            };
            let mut name = format!("{stem}{dot}{extension}");
            let small = |name: &str| name.to_ascii_lowercase().into_bytes();
            while known.get(&small(&name)).is_some() {
                name = format!("{stem}.{index}{dot}{extension}");
                if known.get(&small(&name)).is_some() {
                    name = format!("{index}.{name}");
                    break;
                }
            }
            known.add(&small(&name));
            name
        };
        (0..)
            .zip(&self.members)
            .map(|(i, member)| name(i, member))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_folder() {
        for (name, expected) in [
            ("../../etc/passwd", "_._.._etc_passwd"),
            ("/abs", "_abs"),
            ("C:\\x", "C__x"),
            ("a\u{1b}[31m\nb", "a_[31m_b"),
            ("..", "_"),
            ("", "_"),
            ("-rf", "_rf"),
            (".hidden", "_hidden"),
            ("~", "_"),
            ("CON", "_CON"),
            ("nul.sm_80.cubin", "_nul.sm_80.cubin"),
            ("com1", "_com1"),
            ("common", "common"),
            ("comä", "comä"),
            ("end. .", "end"),
            ("gfx90a:xnack+", "gfx90a_xnack+"),
            ("\u{202e}txt.exe", "_txt.exe"),
        ] {
            assert_eq!(safe(name), expected, "{name:?}");
        }
        assert!(safe(&"ä".repeat(500)).len() <= LIMIT);
    }
}

//! What code is loaded with: the library that has it, and of that the fatbin or bundle.
//!
//! A runtime registers each fatbin, or bundle, as one: a kernel of one is not looked for in another, even if it is called alike.

use std::rc::Rc;

use crate::container::identify::is_container;
use crate::container::{Contents, Format};

/// What a member lies in, by its path from the file on: empty is the file itself, `None` where it lies in no such thing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadedWith {
    /// The outermost that is more than a package of files: a program or library, an archive of objects, a fatbin.
    pub library: Option<Rc<str>>,
    /// The outermost fatbin or bundle.
    pub module: Option<Rc<str>>,
}

impl LoadedWith {
    /// What members of a file of `format` lie in, as far as that is the file.
    pub fn file(format: Format) -> Self {
        Self {
            library: (!is_package(format)).then(|| "".into()),
            module: None,
        }
    }

    /// What member `index` lies in, or is; that it is a member of lies in `self`, and `around` stands before its path.
    #[must_use]
    pub fn member(&self, contents: &Contents, around: &str, index: u32) -> Self {
        let mut found = self.clone();
        let mut way = Vec::new();
        let mut next = Some(index);
        while let Some((at, member)) =
            next.and_then(|at| Some((at, contents.members.get(at as usize)?)))
        {
            way.push(at);
            next = member.parent;
        }
        for at in way.into_iter().rev() {
            let format = contents.members[at as usize].format;
            let path = || Some(format!("{around}{}", contents.path(at)).into());
            if found.library.is_none() && is_container(format) && !is_package(format) {
                found.library = path();
            }
            if found.module.is_none() && is_module(format) {
                found.module = path();
            }
        }
        found
    }
}

fn is_package(format: Format) -> bool {
    matches!(
        format,
        Format::Zip | Format::Tar | Format::Gzip | Format::Zstd
    )
}

fn is_module(format: Format) -> bool {
    matches!(
        format,
        Format::Fatbin | Format::OffloadBundle | Format::OffloadBinary
    )
}

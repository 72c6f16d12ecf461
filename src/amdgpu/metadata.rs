//! The metadata of a code object: what a runtime is told of its kernels and their arguments.

use serde::{Serialize, Serializer};

use super::argument::Argument;
use super::value::{Content, Value};
use super::{msgpack, yaml};
use crate::elf::Elf;
use crate::elf::note::Note;
use crate::error::{Diagnostic, Diagnostics, Kind};
use crate::index::Map;
use crate::span::Span;

/// In which notation metadata is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// MessagePack: code object V3 and later.
    MessagePack,
    /// YAML: code object V2.
    Yaml,
}

/// Bytes of metadata that are read, at most.
const LIMIT: u64 = 256 << 20;

/// The metadata of a code object. It serializes as nested JSON, keys as in the note.
#[derive(Clone, Debug)]
pub struct Metadata {
    /// The bytes of the note that say it.
    pub span: Span,
    /// Their notation.
    pub form: Form,
    /// What they say.
    pub root: Value,
    /// Where in the file the values begin that a mistake cut off.
    cut: Vec<u64>,
}

impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.root.serialize(serializer)
    }
}

/// What metadata says of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Description<'a> {
    /// The map that says it.
    pub value: &'a Value,
    form: Form,
}

impl Metadata {
    /// The notation of the metadata that `note` has; `None` for other notes.
    pub fn form_of(note: &Note) -> Option<Form> {
        match (note.owner.as_str(), note.kind) {
            ("AMDGPU", 32) => Some(Form::MessagePack),
            ("AMD", 10) => Some(Form::Yaml),
            _ => None,
        }
    }

    /// Reads the metadata that `note` has. Mistakes are findings; what is whole is kept.
    pub fn read(elf: &Elf, note: &Note, findings: &mut Diagnostics) -> Option<Self> {
        let form = Self::form_of(note)?;
        let mut span = note.content;
        let at = elf.source().absolute(span.offset);
        if span.size > LIMIT {
            findings.push(
                Diagnostic::warning(Kind::Limit, "only the beginning of the metadata is read")
                    .expected(format!("at most {LIMIT} bytes"), span.size)
                    .within("metadata")
                    .at(at),
            );
            span.size = LIMIT;
        }
        let bytes = findings.take(elf.source().read(span))?;
        let tree = match form {
            Form::MessagePack => msgpack::read(elf.source(), &bytes, span.offset),
            Form::Yaml => yaml::read(elf.source(), &bytes, span.offset),
        };
        let metadata = Self {
            span,
            form,
            root: tree.root,
            cut: tree.cut,
        };
        match tree.error {
            Some(error) => findings.push(error.into_diagnostic()),
            None => metadata.check(elf, findings),
        }
        Some(metadata)
    }

    /// The key of a property of the whole.
    fn root_value(&self, of_message_pack: &str, of_yaml: &str) -> Option<&Value> {
        self.root.get(match self.form {
            Form::MessagePack => of_message_pack,
            Form::Yaml => of_yaml,
        })
    }

    /// The version of the metadata, major and minor.
    pub fn version(&self) -> Option<[u64; 2]> {
        let version = self.root_value("amdhsa.version", "Version")?.list()?;
        let [major, minor] = version else {
            return None;
        };
        Some([major.number()?, minor.number()?])
    }

    /// The target as the metadata has it from V4 on, such as `amdgcn-amd-amdhsa--gfx942`.
    pub fn target(&self) -> Option<&str> {
        self.root.get("amdhsa.target")?.text()
    }

    /// What it says of each kernel, in its own order; what a mistake cut off is left out.
    pub fn kernels(&self) -> impl Iterator<Item = Description<'_>> {
        let list = self.root_value("amdhsa.kernels", "Kernels");
        let kernels = list.and_then(Value::list).unwrap_or_default();
        kernels
            .iter()
            .filter(|value| !self.cut.contains(&value.span.offset))
            .map(|value| Description {
                value,
                form: self.form,
            })
    }

    /// What it says of each kernel, by the kernel's name; the first where it says it twice.
    pub(super) fn by_kernel(&self) -> Map<Description<'_>> {
        let mut all = Map::default();
        for kernel in self.kernels() {
            if let Some(name) = kernel.name() {
                all.entry(name.as_bytes(), kernel);
            }
        }
        all
    }

    /// What a loader relies on: that the parts are what they should be.
    fn check(&self, elf: &Elf, findings: &mut Diagnostics) {
        let mut wrong = |what: String, expected: &str, value: &Value| {
            findings.push(
                Diagnostic::error(Kind::Loader, format!("malformed metadata: {what}"))
                    .expected(expected, value.kind())
                    .within("metadata")
                    .at(elf.source().absolute(value.span.offset)),
            );
        };
        if self.root.entries().is_none() {
            return wrong("it is not a map".into(), "a map", &self.root);
        }
        let key = match self.form {
            Form::MessagePack => "amdhsa.kernels",
            Form::Yaml => "Kernels",
        };
        // A file of functions and variables alone has no kernels to speak of.
        let Some(list) = self.root.get(key) else {
            return;
        };
        let Some(kernels) = list.list() else {
            return wrong(format!("{key} is not a list"), "a list", list);
        };
        for (index, kernel) in kernels.iter().enumerate() {
            if kernel.entries().is_none() {
                wrong(format!("{key}[{index}] is not a map"), "a map", kernel);
            } else if (Description {
                value: kernel,
                form: self.form,
            })
            .name()
            .is_none()
            {
                wrong(
                    format!("{key}[{index}] names no kernel"),
                    "a string",
                    kernel,
                );
            }
        }
    }
}

impl<'a> Description<'a> {
    fn get(&self, of_message_pack: &str, of_yaml: &str) -> Option<&'a Value> {
        match self.form {
            Form::MessagePack => self.value.get(of_message_pack),
            Form::Yaml => self.value.get(of_yaml),
        }
    }

    /// The kernel's name: of its descriptor, or, where that is not there, in the source.
    pub fn name(&self) -> Option<&'a str> {
        let symbol = self.get(".symbol", "SymbolName").and_then(Value::text);
        let suffix = match self.form {
            Form::MessagePack => ".kd",
            Form::Yaml => "@kd",
        };
        match symbol {
            Some(symbol) => Some(symbol.strip_suffix(suffix).unwrap_or(symbol)),
            None => self.get(".name", "Name")?.text(),
        }
    }

    /// A property that V2 keeps among those of the code.
    fn of_code(&self, of_message_pack: &str, of_yaml: &str) -> Option<&'a Value> {
        match self.form {
            Form::MessagePack => self.value.get(of_message_pack),
            Form::Yaml => self.value.get("CodeProps")?.get(of_yaml),
        }
    }

    /// Bytes of the kernarg segment.
    pub fn kernarg_size(&self) -> Option<&'a Value> {
        self.of_code(".kernarg_segment_size", "KernargSegmentSize")
    }

    /// Work-items that a workgroup can have.
    pub fn max_flat_workgroup_size(&self) -> Option<&'a Value> {
        self.of_code(".max_flat_workgroup_size", "MaxFlatWorkGroupSize")
    }

    /// A number of things of the code, such as `.vgpr_count`.
    pub fn count(&self, of_message_pack: &str, of_yaml: &str) -> Option<u32> {
        let number = self.of_code(of_message_pack, of_yaml)?.number()?;
        u32::try_from(number).ok()
    }

    /// Its arguments in the metadata's order. What is malformed goes to `wrong`: what it is, what
    /// it should be, and where.
    pub fn arguments(&self, mut wrong: impl FnMut(String, &str, &Value)) -> Vec<Argument> {
        let Some(list) = self.get(".args", "Args") else {
            return Vec::new();
        };
        let values = match (&list.content, list.list()) {
            (_, Some(values)) => values,
            // An empty list in YAML.
            (Content::Nil, _) if self.form == Form::Yaml => &[],
            _ => {
                wrong("the arguments are not a list".into(), "a list", list);
                return Vec::new();
            }
        };
        let mut arguments: Vec<Argument> = Vec::with_capacity(values.len());
        for (index, value) in values.iter().enumerate() {
            if value.entries().is_none() {
                wrong(format!("argument {index} is not a map"), "a map", value);
                continue;
            }
            let next = arguments.last().map_or(0, Argument::end);
            arguments.push(Argument::read(
                value,
                self.form,
                next,
                |key, expected, found| {
                    wrong(
                        format!("argument {index} has no good {key}"),
                        expected,
                        found,
                    );
                },
            ));
        }
        arguments
    }
}

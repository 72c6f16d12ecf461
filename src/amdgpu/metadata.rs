//! The metadata of a code object: what a runtime is told of its kernels and their arguments.

use std::cell::OnceCell;

use serde::{Serialize, Serializer};

use super::argument::Argument;
use super::tree::Rows;
use super::value::Value;
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
    rows: OnceCell<Rows>,
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
            rows: OnceCell::new(),
        };
        if let Some(error) = tree.error {
            findings.push(error.into_diagnostic());
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
            .filter(|value| !self.is_cut(value))
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

    /// Whether a mistake cut `value` off.
    pub(super) fn is_cut(&self, value: &Value) -> bool {
        self.cut.contains(&value.span.offset)
    }

    /// Whether all of it was read.
    pub(super) fn is_whole(&self) -> bool {
        self.cut.is_empty()
    }

    /// Its keys and items as rows.
    pub fn rows(&self) -> &Rows {
        self.rows.get_or_init(|| Rows::of(&self.root))
    }

    /// The calls of printf that it lists.
    pub fn printf(&self) -> &[Value] {
        let list = self.root_value("amdhsa.printf", "Printf");
        list.and_then(Value::list).unwrap_or_default()
    }
}

impl<'a> Description<'a> {
    pub(super) fn get(&self, of_message_pack: &str, of_yaml: &str) -> Option<&'a Value> {
        match self.form {
            Form::MessagePack => self.value.get(of_message_pack),
            Form::Yaml => self.value.get(of_yaml),
        }
    }

    /// The kernel's name: of its descriptor, or, where that is not there, in the source.
    pub fn name(&self) -> Option<&'a str> {
        match self.symbol() {
            Some(symbol) => Some(symbol.strip_suffix(self.suffix()).unwrap_or(symbol)),
            None => self.source_name(),
        }
    }

    /// The symbol of its descriptor, as the metadata has it.
    pub fn symbol(&self) -> Option<&'a str> {
        self.get(".symbol", "SymbolName")?.text()
    }

    /// Its name in the source.
    pub fn source_name(&self) -> Option<&'a str> {
        self.get(".name", "Name")?.text()
    }

    /// What the symbol has behind the name.
    pub fn suffix(&self) -> &'static str {
        match self.form {
            Form::MessagePack => ".kd",
            Form::Yaml => "@kd",
        }
    }

    /// A property that V2 keeps among those of the code.
    pub(super) fn of_code(&self, of_message_pack: &str, of_yaml: &str) -> Option<&'a Value> {
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

    /// The size that a workgroup must have along each axis, and the value that says so.
    pub(super) fn size_of_workgroup(&self) -> Option<(&'a Value, [u64; 3])> {
        let value = match self.form {
            Form::MessagePack => self.value.get(".reqd_workgroup_size")?,
            Form::Yaml => self.value.get("Attrs")?.get("ReqdWorkGroupSize")?,
        };
        let [x, y, z] = value.list()? else {
            return None;
        };
        Some((value, [x.number()?, y.number()?, z.number()?]))
    }

    /// Its arguments in the metadata's order.
    pub fn arguments(&self) -> Vec<Argument> {
        let list = self.get(".args", "Args").and_then(Value::list);
        let values = list.unwrap_or_default().iter();
        let mut arguments: Vec<Argument> = Vec::new();
        for value in values.filter(|value| value.entries().is_some()) {
            let next = arguments.last().map_or(0, Argument::end);
            arguments.push(Argument::read(value, self.form, next));
        }
        arguments
    }
}

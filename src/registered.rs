//! What host code hands to a GPU's runtime: the wrappers of its fatbins and bundles, and which of its functions launch which kernels, as
//! far as symbols and relocations tell.
//!
//! Sources: what nvcc and clang write (`CGCUDANV.cpp`). The function of a kernel's name launches it; in HIP a pointer to the function
//! that does has that name. What hands the arguments on is called `__device_stub_` and the kernel's mangled name by nvcc, and by clang as
//! the kernel with the prefix `__device_stub__`. A constructor registers a wrapper by `__cudaRegisterFatBinary`, then each kernel with
//! its name on the device: in object files the relocations of these calls tell them.

use std::rc::Rc;

use object::elf::{STT_FUNC, STT_OBJECT};

use crate::container::Contents;
use crate::elf::{Elf, Relocation, RelocationTable, Symbol, SymbolTable};
use crate::index::Index;
use crate::order;
use crate::rows::{Cell, Column, Table, Unit, column, hidden};
use crate::span::Span;
use crate::survey::Survey;

/// Names that are held for kernels, at most.
const LIMIT: usize = 1 << 20;
/// Relocations before a call that its arguments are looked for in.
const ARGUMENTS: usize = 8;
/// Functions that are named with a wrapper, at most.
const REFERRERS: usize = 8;
/// Bytes of a kernel's name that are read.
const NAME: u64 = 4096;
/// What a function that hands a kernel's arguments on is called after.
const STUB: &str = "__device_stub__";

/// What host code hands to a runtime, by its symbols and relocations alone.
#[derive(Default)]
pub struct Registered {
    wrappers: Vec<Wrapper>,
    /// Those that calls register, and what stubs may be of.
    known: Known,
    /// What hands arguments on, with the numbers of what its kernel may be called.
    stubs: Vec<(Vec<usize>, Named)>,
}

/// What may launch kernels, by their names.
#[derive(Clone, Default)]
struct Known {
    launchers: Vec<Launcher>,
    names: Index,
}

/// What launches which kernel.
pub struct Launchers(Vec<Launcher>);

/// What launches a kernel.
#[derive(Clone, Default)]
struct Launcher {
    kernel: Box<str>,
    /// Whether a call registers it, or a member has it.
    is_kernel: bool,
    /// What host code names the kernel by.
    host: Option<Named>,
    /// What hands the arguments on.
    stub: Option<Named>,
    /// The relocation of the call that registers it.
    call: Option<Span>,
    /// The wrapper that was registered before it.
    wrapper: Option<u64>,
}

/// A symbol of the host.
#[derive(Clone)]
struct Named {
    name: Box<str>,
    /// Its entry in the symbol table.
    entry: Span,
    /// The bytes that it names.
    bytes: Option<Span>,
    value: u64,
    is_handle: bool,
}

struct Wrapper {
    span: Span,
    kind: &'static str,
    /// Where what it wraps begins in the file, and what says so.
    wraps: Option<(u64, &'static str)>,
    symbol: Option<Box<str>>,
    module: Option<Box<str>>,
    referrers: Vec<Box<str>>,
}

/// A relocation that leads to a wrapper.
struct Referring {
    section: u32,
    offset: u64,
    wrapper: usize,
}

impl Known {
    /// The number of what may be the kernel called `name`.
    fn named(&mut self, name: &str) -> Option<usize> {
        let known = self.names.get(name.as_bytes());
        known.or_else(|| {
            if self.launchers.len() >= LIMIT {
                return None;
            }
            self.launchers.push(Launcher {
                kernel: name.into(),
                ..Launcher::default()
            });
            Some(self.names.add(name.as_bytes()))
        })
    }
}

impl Registered {
    /// What the symbols and relocations of `elf` tell, a file for a host that holds `contents`.
    pub fn read(elf: &Elf, contents: &Contents) -> Self {
        let mut found = Self::default();
        for (span, kind) in contents.wrappers() {
            found.wrappers.push(Wrapper {
                span,
                kind,
                wraps: None,
                symbol: None,
                module: None,
                referrers: Vec::new(),
            });
        }
        order::arrange(&mut found.wrappers, |wrapper| wrapper.span.offset);
        let mut referring = Vec::new();
        for table in &elf.relocation_tables {
            found.relocations(elf, table, &mut referring);
        }
        found.stored_pointers(elf);
        found.symbols(elf, referring);
        found.modules(elf);
        // An object file's only wrapper is that of all its kernels.
        if let [only] = &*found.wrappers {
            let launchers = found.known.launchers.iter_mut();
            let called = launchers.filter(|one| one.call.is_some());
            called.for_each(|one| one.wrapper = Some(only.span.offset));
        }
        found
    }

    /// What launches which kernel, of which `survey` knows some names.
    pub fn launchers(&self, elf: &Elf, survey: &Survey) -> Launchers {
        let mut known = self.known.clone();
        for name in survey.kernel_names() {
            if let Some(at) = known.named(name) {
                known.launchers[at].is_kernel = true;
            }
        }
        let Known {
            mut launchers,
            names,
        } = known;
        if !launchers.is_empty() {
            each_symbol(elf, |table, symbol, name| {
                // A static function's name has an L: `_ZL4fillPf`.
                let global = || Some(["_Z", name.strip_prefix("_ZL")?].concat());
                let known = names.get(name.as_bytes());
                let known = known.or_else(|| names.get(global()?.as_bytes()));
                if let Some(launcher) = known.and_then(|at| launchers.get_mut(at))
                    && launcher.host.is_none()
                {
                    launcher.host = Some(Named::new(elf, table, symbol, name));
                }
            });
        }
        place_stubs(&mut launchers, &self.stubs);
        let is_told = |launcher: &Launcher| {
            let has_host = launcher.is_kernel && launcher.host.is_some();
            has_host || launcher.stub.is_some() || launcher.call.is_some()
        };
        launchers.retain(is_told);
        Launchers(launchers)
    }

    /// The wrapper that has the byte at `offset`.
    fn wrapper_at(&self, offset: u64) -> Option<usize> {
        let before = |wrapper: &Wrapper| wrapper.span.end() <= offset;
        let at = self.wrappers.partition_point(before);
        let wrapper = self.wrappers.get(at)?;
        (wrapper.span.offset <= offset).then_some(at)
    }

    /// Reads where the wrappers' pointers lead, the calls that register something, and what leads to wrappers.
    fn relocations(&mut self, elf: &Elf, table: &RelocationTable, referring: &mut Vec<Referring>) {
        let symbols = elf.symbols_of(table);
        let symbols = symbols.and_then(|symbols| elf.symbols(symbols).ok());
        let Ok(relocations) = elf.relocations(table) else {
            return;
        };
        // What may be the arguments of the next call: places in the file. And the wrapper that was registered last.
        let mut arguments: Vec<u64> = Vec::new();
        let mut registered = None;
        for relocation in relocations.iter() {
            let symbol = symbols.as_ref();
            let symbol = symbol.and_then(|symbols| symbols.get(relocation.symbol.into()));
            self.pointer(elf, table, &relocation, symbol.as_ref());
            let (Some(symbols), Some(symbol)) = (&symbols, symbol) else {
                continue;
            };
            if symbol.section != 0 {
                let Some(to) = leads_to(elf, &relocation, &symbol) else {
                    continue;
                };
                if let (Some(wrapper), Some(section)) = (self.wrapper_at(to), table.target) {
                    referring.push(Referring {
                        section,
                        offset: relocation.offset,
                        wrapper,
                    });
                }
                if arguments.len() == ARGUMENTS {
                    arguments.remove(0);
                }
                arguments.push(to);
                continue;
            }
            // What is called is not in the file.
            match &*symbols.strings.text(symbol.name.into()) {
                "__cudaRegisterFatBinary" | "__hipRegisterFatBinary" => {
                    let mut last = arguments.iter().rev();
                    registered = last.find_map(|&at| self.wrapper_at(at));
                }
                "__cudaRegisterFunction" | "__hipRegisterFunction" => {
                    let mut last = arguments.iter().rev();
                    let name = last.find_map(|&at| kernel_name(elf, at));
                    let at = name.and_then(|name| self.known.named(&name));
                    let wrapper = registered.map(|at: usize| self.wrappers[at].span.offset);
                    if let Some(launcher) = at.and_then(|at| self.known.launchers.get_mut(at)) {
                        launcher.is_kernel = true;
                        launcher.call = Some(table.table.entry(relocation.index));
                        launcher.wrapper = wrapper;
                    }
                }
                _ => {}
            }
            arguments.clear();
        }
    }

    /// Where the pointer of a wrapper leads, if it is one that `relocation` writes.
    fn pointer(
        &mut self,
        elf: &Elf,
        table: &RelocationTable,
        relocation: &Relocation,
        symbol: Option<&Symbol>,
    ) {
        if self.wrappers.is_empty() {
            return;
        }
        let patched = elf.patched_bytes(table, relocation);
        let at = patched.and_then(|patched| patched.offset.checked_sub(POINTER));
        let wrapper = at.and_then(|at| self.wrapper_at(at));
        let Some(wrapper) = wrapper.and_then(|wrapper| self.wrappers.get_mut(wrapper)) else {
            return;
        };
        if at != Some(wrapper.span.offset) {
            return;
        }
        let addend = elf.addend(table, relocation).unwrap_or(0);
        let to = match relocation.symbol {
            // The address itself, relative to where the file is loaded.
            0 => u64::try_from(addend).ok().and_then(|at| stored(elf, at)),
            _ => symbol.and_then(|symbol| beyond(elf, symbol, addend)),
        };
        wrapper.wraps = to.map(|to| (to, "relocation"));
    }

    /// Reads where the pointers lead that no relocation writes.
    fn stored_pointers(&mut self, elf: &Elf) {
        for wrapper in self.wrappers.iter_mut().filter(|one| one.wraps.is_none()) {
            let mut pointer = [0; 8];
            let at = wrapper.span.offset + POINTER;
            let read = elf.source().read_into(at, &mut pointer);
            let address = u64::from_le_bytes(pointer);
            if read.is_ok() && address != 0 {
                wrapper.wraps = stored(elf, address).map(|to| (to, "stored"));
            }
        }
    }

    /// Reads the symbols of stubs, those of wrappers, and of the functions that refer to these.
    fn symbols(&mut self, elf: &Elf, mut referring: Vec<Referring>) {
        order::arrange_by(&mut referring, |a, b| a.key().cmp(&b.key()));
        each_symbol(elf, |table, symbol, name| {
            let kernels = stub_of(name);
            if !kernels.is_empty() && self.stubs.len() < LIMIT {
                let kernels = kernels.iter().filter_map(|name| self.known.named(name));
                let kernels: Vec<usize> = kernels.collect();
                self.stubs
                    .push((kernels, Named::new(elf, table, symbol, name)));
            }
            if symbol.info & 15 == STT_OBJECT.0 {
                let at = elf.named_by(symbol);
                let at = at.and_then(|span| self.wrapper_at(span.offset));
                if let Some(wrapper) = at.and_then(|at| self.wrappers.get_mut(at)) {
                    wrapper.symbol.get_or_insert_with(|| name.into());
                }
            }
            if symbol.info & 15 == STT_FUNC.0 {
                let end = symbol.value.saturating_add(symbol.size);
                let from =
                    referring.partition_point(|one| one.key() < (symbol.section, symbol.value));
                let within = referring[from..].iter();
                for one in within.take_while(|one| one.key() < (symbol.section, end)) {
                    let referrers = &mut self.wrappers[one.wrapper].referrers;
                    let is_known = referrers.iter().any(|known| **known == *name);
                    if !is_known && referrers.len() < REFERRERS {
                        referrers.push(name.into());
                    }
                }
            }
        });
    }

    /// Reads the names of the modules that the wrappers are of: those in `__nv_module_id` that nvcc gives relocatable device code.
    fn modules(&mut self, elf: &Elf) {
        let Some(section) = elf.section_named("__nv_module_id") else {
            return;
        };
        let stored = elf.stored(section);
        let Ok(bytes) = elf
            .source()
            .read_up_to(stored.offset, stored.size.min(MODULES))
        else {
            return;
        };
        let texts = bytes
            .split(|&byte| byte == 0)
            .filter(|text| !text.is_empty());
        // What nvcc writes where code is not relocatable.
        let texts = texts
            .map(crate::record::text)
            .filter(|text| text != "__NV_MODULE_ID");
        let texts: Vec<String> = texts.collect();
        for wrapper in &mut self.wrappers {
            let symbol = wrapper.symbol.as_deref().unwrap_or_default();
            let name = symbol.strip_prefix("__fatbinwrap").unwrap_or_default();
            let text = match &*texts {
                [only] => Some(only),
                texts => texts.iter().find(|text| text.as_str() == name),
            };
            wrapper.module = text.map(|text| text.as_str().into());
        }
    }
}

/// Gives stubs to their kernels. Each has the numbers of what its kernel may be called.
fn place_stubs(launchers: &mut [Launcher], stubs: &[(Vec<usize>, Named)]) {
    let mut statics: Index = Index::default();
    let mut numbers = Vec::new();
    for (at, launcher) in launchers.iter().enumerate() {
        if let Some(name) = static_name(&launcher.kernel).filter(|_| launcher.is_kernel)
            && statics.add(name.as_bytes()) == numbers.len()
        {
            numbers.push(at);
        }
    }
    for (kernels, stub) in stubs {
        let first = |is: &dyn Fn(&Launcher) -> bool| {
            let mut kernels = kernels.iter().copied();
            kernels.find(|&at| is(&launchers[at]))
        };
        let of_static = || {
            let mut names = kernels.iter().map(|&at| &launchers[at].kernel);
            let known = names.find_map(|name| statics.get(name.as_bytes()))?;
            Some(numbers[known])
        };
        // What is known to be a kernel, or else what there is a function for.
        let at = first(&|one| one.is_kernel)
            .or_else(of_static)
            .or_else(|| first(&|one| one.host.is_some()))
            .or_else(|| first(&|_| true));
        let Some(at) = at else {
            continue;
        };
        if launchers[at].host.is_none() {
            let mut hosts = kernels.iter().copied();
            let with_host = hosts.find(|&one| launchers[one].host.is_some());
            let host = with_host.and_then(|one| launchers[one].host.take());
            launchers[at].host = host;
        }
        launchers[at].stub.get_or_insert_with(|| stub.clone());
    }
}

/// Bytes of names of modules that are read.
const MODULES: u64 = 1 << 20;

/// Where a wrapper of either kind has its pointer.
const POINTER: u64 = 8;

impl Referring {
    fn key(&self) -> (u32, u64) {
        (self.section, self.offset)
    }
}

impl Named {
    fn new(elf: &Elf, table: &SymbolTable, symbol: &Symbol, name: &str) -> Self {
        Self {
            name: name.into(),
            entry: table.table.entry(symbol.index),
            bytes: elf.named_by(symbol),
            value: symbol.value,
            is_handle: symbol.info & 15 == STT_OBJECT.0,
        }
    }
}

/// Calls `each` with the symbols of `elf` that are defined there and have a name, static ones first.
fn each_symbol(elf: &Elf, mut each: impl FnMut(&SymbolTable, &Symbol, &str)) {
    for table in &elf.symbol_tables {
        let Ok(symbols) = elf.symbols(table) else {
            continue;
        };
        for symbol in symbols
            .iter()
            .filter(|one| one.section != 0 && one.name != 0)
        {
            each(table, &symbol, &symbols.strings.text(symbol.name.into()));
        }
    }
}

/// The byte of the file that a relocation of code leads to.
fn leads_to(elf: &Elf, relocation: &Relocation, symbol: &Symbol) -> Option<u64> {
    // Those of x86-64 that are relative count from the next instruction: R_X86_64_PC32, _PLT32, _GOTPCREL, _GOTPCRELX and
    // _REX_GOTPCRELX of the psABI.
    let is_x86 = elf.header.e_machine == object::elf::EM_X86_64.0;
    let skip = match relocation.kind {
        2 | 4 | 9 | 41 | 42 if is_x86 => 4,
        _ => 0,
    };
    beyond(elf, symbol, i128::from(relocation.addend?) + skip)
}

/// The byte of the file that is `addend` bytes behind `symbol`.
fn beyond(elf: &Elf, symbol: &Symbol, addend: i128) -> Option<u64> {
    let section = elf.section(symbol.section)?;
    let within = symbol.value.checked_sub(elf.start_of(section))?;
    let within = u64::try_from(i128::from(within) + addend).ok()?;
    Some(elf.stored_from(section, within)?.offset)
}

/// The byte of the file that a loader writes to `address`.
fn stored(elf: &Elf, address: u64) -> Option<u64> {
    let image = elf.load_image.as_ref()?;
    let from = address.checked_sub(image.address)?;
    Some(image.stored_from(from)?.offset)
}

/// The name of a kernel at `offset`, if there is one.
fn kernel_name(elf: &Elf, offset: u64) -> Option<String> {
    let bytes = elf.source().read_up_to(offset, NAME).ok()?;
    let name = &bytes[..bytes.iter().position(|&byte| byte == 0)?];
    let is_name = |&byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.');
    let is_named = !name.is_empty() && name.iter().all(is_name);
    is_named.then(|| String::from_utf8_lossy(name).into_owned())
}

/// What the kernel may be called whose arguments the function called `name` hands on: nothing if it does not.
fn stub_of(name: &str) -> Vec<String> {
    let Some((before, rest)) = name.split_once(STUB) else {
        return Vec::new();
    };
    // Variables within such a function are called after it.
    if before.starts_with("_ZZ") || before.starts_with("_ZGV") {
        return Vec::new();
    }
    let start = before.trim_end_matches(|c: char| c.is_ascii_digit());
    let Ok(length) = before[start.len()..].parse::<usize>() else {
        // That of a function of C.
        return match before.is_empty() && !rest.is_empty() {
            true => vec![rest.into()],
            false => Vec::new(),
        };
    };
    let inside = length.checked_sub(STUB.len());
    let inside = inside.filter(|&length| length > 0 && rest.is_char_boundary(length));
    let Some((inside, behind)) = inside.and_then(|length| rest.split_at_checked(length)) else {
        return Vec::new();
    };
    let mut kernels = Vec::new();
    if matches!(start, "_Z" | "_ZL") && inside.starts_with('Z') {
        // Of nvcc. It mangles the names of functions of C, too, which are not on the device.
        kernels.push(["_", inside].concat());
        let digits = inside[1..].trim_start_matches(|c: char| c.is_ascii_digit());
        let length = inside[1..inside.len() - digits.len()].parse().ok();
        kernels.extend(
            length
                .and_then(|length: usize| digits.get(..length))
                .map(Into::into),
        );
    }
    let start = start
        .strip_suffix('L')
        .filter(|start| *start == "_Z")
        .unwrap_or(start);
    kernels.push(format!("{start}{}{inside}{behind}", inside.len()));
    kernels
}

/// What a static kernel of relocatable device code is called in its source: `_Z4fillPf` of `__nv_static_25__id_k_cu__Z4fillPf`, where
/// the number is the length of the module's name.
fn static_name(kernel: &str) -> Option<&str> {
    let (length, rest) = kernel.strip_prefix("__nv_static_")?.split_once('_')?;
    rest.get(length.parse::<usize>().ok()?..)?.strip_prefix('_')
}

/// The kernels that host code launches.
pub struct LauncherList<'a> {
    /// What is told of them.
    pub launchers: Rc<Launchers>,
    /// In how many members each is.
    pub survey: &'a Survey,
}

impl Table for LauncherList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("kernel", "Kernel", Unit::Text),
            column("host", "Host symbol", Unit::Text),
            column("host_kind", "Is", Unit::Word),
            column("address", "Address", Unit::Hex),
            column("offset", "Offset", Unit::Hex),
            column("size", "Size", Unit::Size),
            column("stub", "Launch stub", Unit::Text),
            hidden("stub_offset", "Launch stub at", Unit::Hex),
            column("call_offset", "Registered at", Unit::Hex),
            column("wrapper_offset", "Wrapper", Unit::Hex),
            column("found", "Found in members", Unit::Number),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.launchers.0.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(launcher) = self.launchers.0.get(row as usize) else {
            return Cell::None;
        };
        let (host, stub) = (launcher.host.as_ref(), launcher.stub.as_ref());
        let bytes = |named: Option<&Named>| named.and_then(|named| named.bytes);
        match key {
            "kernel" => (&*launcher.kernel).into(),
            "host" => host.map(|host| &*host.name).into(),
            "host_kind" => host
                .map(|host| match host.is_handle {
                    true => "handle",
                    false => "function",
                })
                .into(),
            "address" => host.map(|host| host.value).into(),
            "offset" => bytes(host).map(|bytes| bytes.offset).into(),
            "size" => bytes(host).map(|bytes| bytes.size).into(),
            "stub" => stub.map(|stub| &*stub.name).into(),
            "stub_offset" => bytes(stub).map(|bytes| bytes.offset).into(),
            "call_offset" => launcher.call.map(|call| call.offset).into(),
            "wrapper_offset" => launcher.wrapper.into(),
            "found" => self.survey.kernels_called(&launcher.kernel).into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        let launcher = self.launchers.0.get(row as usize)?;
        let named = launcher.host.as_ref().or(launcher.stub.as_ref());
        named.map(|named| named.entry).or(launcher.call)
    }

    fn target(&self, row: u64) -> Option<Span> {
        let launcher = self.launchers.0.get(row as usize)?;
        launcher.host.as_ref().or(launcher.stub.as_ref())?.bytes
    }
}

/// The wrappers that host code registers.
pub struct WrapperList<'a> {
    /// What is told of them.
    pub registered: &'a Registered,
    /// What they wrap.
    pub contents: &'a Contents,
}

impl Table for WrapperList<'_> {
    fn columns(&self) -> &'static [Column] {
        const COLUMNS: &[Column] = &[
            column("offset", "Offset", Unit::Hex),
            column("kind", "Kind", Unit::Word),
            column("symbol", "Symbol", Unit::Text),
            column("path", "Wraps", Unit::Text),
            column("wraps_offset", "At", Unit::Hex),
            column("told_by", "Told by", Unit::Word),
            column("referrers", "Referred to by", Unit::Text),
            column("module", "Module", Unit::Text),
        ];
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.registered.wrappers.len() as u64
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(wrapper) = self.registered.wrappers.get(row as usize) else {
            return Cell::None;
        };
        let wraps = wrapper.wraps;
        match key {
            "offset" => wrapper.span.offset.into(),
            "kind" => wrapper.kind.into(),
            "symbol" => wrapper.symbol.as_deref().into(),
            "path" => {
                let member = wraps.and_then(|(at, _)| self.contents.member_at(at));
                member.map(|member| self.contents.path(member)).into()
            }
            "wraps_offset" => wraps.map(|(at, _)| at).into(),
            "module" => wrapper.module.as_deref().into(),
            "told_by" => wraps.map(|(_, told_by)| told_by).into(),
            "referrers" => Some(wrapper.referrers.join(", "))
                .filter(|referrers| !referrers.is_empty())
                .into(),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        self.registered
            .wrappers
            .get(row as usize)
            .map(|wrapper| wrapper.span)
    }

    fn target(&self, row: u64) -> Option<Span> {
        let (at, _) = self.registered.wrappers.get(row as usize)?.wraps?;
        let member = self.contents.member_at(at)?;
        self.contents.members.get(member as usize)?.span.some()
    }
}

#[cfg(test)]
mod tests {
    use super::stub_of;

    #[test]
    fn stubs_name_their_kernels() {
        // As nvcc 13.5 names those of kernels in C++, in a namespace, of a template, static, and in C.
        assert_eq!(
            stub_of("_Z29__device_stub__ZN2ns4fillEPffPff")[0],
            "_ZN2ns4fillEPff"
        );
        assert_eq!(
            stub_of("_ZL32__device_stub__Z5scaleIfEvPT_S0_Pff")[0],
            "_Z5scaleIfEvPT_S0_"
        );
        assert_eq!(
            stub_of("_ZL25__device_stub__Z6hiddenPiPi")[0],
            "_Z6hiddenPi"
        );
        assert!(stub_of("_Z24__device_stub__Z5plainPiPi").contains(&"plain".into()));
        // As clang 22 names those of HIP.
        assert_eq!(stub_of("_Z20__device_stub__plainPi"), ["_Z5plainPi"]);
        assert_eq!(
            stub_of("_Z20__device_stub__scaleIfLi128EEvPT_PKS0_S0_"),
            ["_Z5scaleIfLi128EEvPT_PKS0_S0_"]
        );
        assert_eq!(
            stub_of("_ZN7rocprim6detail34__device_stub__block_reduce_kernelILb1EEvv"),
            ["_ZN7rocprim6detail19block_reduce_kernelILb1EEvv"]
        );
        assert_eq!(stub_of("__device_stub__fill"), ["fill"]);
        // Variables in them, and what is no such name.
        for name in [
            "_ZZL25__device_stub__Z6hiddenPiPiE3__f",
            "_Z28__wrapper__device_stub_scaleIfEvRPT_RS0_",
            "__device_stub__",
            "_Z99__device_stub__x",
            "_Z5__device_stub__x",
            "x__device_stub__é",
        ] {
            assert!(stub_of(name).is_empty(), "{name}");
        }
    }
}

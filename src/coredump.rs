//! Core dumps as [`Table`]s: what failed and where, threads, their call stacks, and what they belong to.
//!
//! A table is data: of which entries its rows are, and where in the entry, or in one that it belongs to, a column is.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use crate::container::Contents;
use crate::elf::Elf;
use crate::lines;
use crate::nvidia::coredump::section as s;
use crate::nvidia::coredump::{Coredump, Entry, Place};
use crate::nvidia::tables;
use crate::order;
use crate::record::Names;
use crate::rows::{Cell, Column, Table, Unit, column, hidden};
use crate::span::Span;

/// Where a column is.
#[derive(Clone, Copy)]
enum From {
    /// The number in that field of the entry of that type.
    Number(u32, &'static str),
    /// What the number is called.
    Name(u32, &'static str, &'static Names),
    /// The string that the number leads to.
    Text(u32, &'static str),
    /// The numbers in the fields of that name with X, Y and Z behind it.
    Triple(u32, &'static str),
    /// Whether the bit of the thread's lane is set in that field of its warp.
    Lane(&'static str),
    /// The lanes whose bits are set in that field of the warp.
    Lanes(&'static str),
    /// The cubin of the module, in a section of that type.
    Cubin(u32),
    /// What follows from all of the row.
    Row(Of),
}

/// What follows from all of a row.
#[derive(Clone, Copy)]
enum Of {
    Exception,
    Lanes,
    Frame,
    Address,
    Function,
    Offset,
    File,
    Line,
    Path,
    Member,
    Kernel,
    What,
    Start,
    Size,
    FileOffset,
}

type Spec = (Column, From);

const fn shown(key: &'static str, title: &'static str, unit: Unit, from: From) -> Spec {
    (column(key, title, unit), from)
}

const fn more(key: &'static str, title: &'static str, unit: Unit, from: From) -> Spec {
    (hidden(key, title, unit), from)
}

const fn number(key: &'static str, title: &'static str, kind: u32, field: &'static str) -> Spec {
    shown(key, title, Unit::Number, From::Number(kind, field))
}

const fn hex(key: &'static str, title: &'static str, kind: u32, field: &'static str) -> Spec {
    shown(key, title, Unit::Hex, From::Number(kind, field))
}

const fn of(key: &'static str, title: &'static str, unit: Unit, of: Of) -> Spec {
    shown(key, title, unit, From::Row(of))
}

/// Which rows a table has.
#[derive(Clone, Copy)]
enum Rows {
    /// The entries of sections of that type.
    Entries(u32),
    Exceptions,
    Frames,
    Memory,
    /// What there is of one thread.
    Lane,
}

const DEVICE: Spec = number("device", "Device", s::DEV_TABLE, "devId");
const SM: Spec = number("sm", "SM", s::SM_TABLE, "smId");
const BLOCK: Spec = shown(
    "block",
    "Block",
    Unit::Word,
    From::Triple(s::CTA_TABLE, "blockIdx"),
);
const CLUSTER: Spec = more(
    "cluster",
    "Cluster",
    Unit::Word,
    From::Triple(s::CTA_TABLE, "clusterIdx"),
);
const WARP: Spec = number("warp", "Warp", s::WP_TABLE, "warpId");
const LANE: Spec = number("lane", "Lane", s::LN_TABLE, "ln");
const THREAD: Spec = shown(
    "thread",
    "Thread",
    Unit::Word,
    From::Triple(s::LN_TABLE, "threadIdx"),
);
const ADDRESS: Spec = of("pc", "PC", Unit::Hex, Of::Address);
const FUNCTION: Spec = of("function", "Function", Unit::Text, Of::Function);
const OFFSET: Spec = of("offset", "Offset", Unit::Hex, Of::Offset);
const FILE: Spec = of("file", "File", Unit::Text, Of::File);
const LINE: Spec = of("line", "Line", Unit::Number, Of::Line);
const PATH: Spec = more("path", "Path", Unit::Text, From::Row(Of::Path));
const MEMBER: Spec = more("member", "Member", Unit::Text, From::Row(Of::Member));
const KERNEL: Spec = of("kernel", "Kernel", Unit::Text, Of::Kernel);
const GRID: Spec = more(
    "grid",
    "Grid",
    Unit::Number,
    From::Number(s::GRID_TABLE, "gridId64"),
);

/// The tables by their keys.
static TABLES: &[(&str, Rows, &[Spec])] = &[
    (
        "exceptions",
        Rows::Exceptions,
        &[
            of("exception", "Exception", Unit::Word, Of::Exception),
            FUNCTION,
            OFFSET,
            FILE,
            LINE,
            DEVICE,
            SM,
            BLOCK,
            CLUSTER,
            WARP,
            of("lanes", "Lanes", Unit::Word, Of::Lanes),
            THREAD,
            ADDRESS,
            KERNEL,
            GRID,
            PATH,
            MEMBER,
        ],
    ),
    (
        "lanes",
        Rows::Entries(s::LN_TABLE),
        &[
            DEVICE,
            SM,
            BLOCK,
            CLUSTER,
            WARP,
            LANE,
            THREAD,
            shown("valid", "Valid", Unit::Word, From::Lane("validLanesMask")),
            shown(
                "active",
                "Active",
                Unit::Word,
                From::Lane("activeLanesMask"),
            ),
            of("exception", "Exception", Unit::Word, Of::Exception),
            ADDRESS,
            FUNCTION,
            OFFSET,
            FILE,
            LINE,
            number("call_depth", "Calls", s::LN_TABLE, "callDepth"),
            more(
                "state",
                "State",
                Unit::Word,
                From::Name(
                    s::LN_TABLE,
                    "cbuThreadState",
                    &tables::COREDUMP_THREAD_STATE,
                ),
            ),
            more(
                "function_offset",
                "Offset as dumped",
                Unit::Hex,
                From::Number(s::LN_TABLE, "physPC"),
            ),
            GRID,
            PATH,
            MEMBER,
        ],
    ),
    (
        "frames",
        Rows::Frames,
        &[
            DEVICE,
            SM,
            BLOCK,
            WARP,
            LANE,
            THREAD,
            of("frame", "Frame", Unit::Number, Of::Frame),
            ADDRESS,
            FUNCTION,
            OFFSET,
            FILE,
            LINE,
            PATH,
            MEMBER,
        ],
    ),
    (
        "warps",
        Rows::Entries(s::WP_TABLE),
        &[
            DEVICE,
            SM,
            BLOCK,
            WARP,
            shown(
                "valid",
                "Valid lanes",
                Unit::Word,
                From::Lanes("validLanesMask"),
            ),
            shown(
                "active",
                "Active lanes",
                Unit::Word,
                From::Lanes("activeLanesMask"),
            ),
            more(
                "in_syscall",
                "In system calls",
                Unit::Word,
                From::Lanes("inSyscallLanesMask"),
            ),
            more(
                "exited",
                "Exited lanes",
                Unit::Word,
                From::Lanes("cbuExitedLanesMask"),
            ),
            number("registers", "Registers", s::WP_TABLE, "numRegs"),
            shown(
                "shared",
                "Shared",
                Unit::Size,
                From::Number(s::WP_TABLE, "sharedMemSize"),
            ),
            of("pc", "Error PC", Unit::Hex, Of::Address),
            FUNCTION,
            OFFSET,
            FILE,
            LINE,
            PATH,
            MEMBER,
        ],
    ),
    (
        "ctas",
        Rows::Entries(s::CTA_TABLE),
        &[
            DEVICE,
            SM,
            BLOCK,
            shown(
                "cluster",
                "Cluster",
                Unit::Word,
                From::Triple(s::CTA_TABLE, "clusterIdx"),
            ),
            number("grid", "Grid", s::CTA_TABLE, "gridId64"),
            KERNEL,
        ],
    ),
    (
        "sms",
        Rows::Entries(s::SM_TABLE),
        &[
            DEVICE,
            SM,
            of("exception", "Exception", Unit::Word, Of::Exception),
            of("pc", "Error PC", Unit::Hex, Of::Address),
            FUNCTION,
            OFFSET,
            FILE,
            LINE,
            PATH,
            MEMBER,
        ],
    ),
    (
        "grids",
        Rows::Entries(s::GRID_TABLE),
        &[
            DEVICE,
            number("grid", "Grid", s::GRID_TABLE, "gridId64"),
            KERNEL,
            shown(
                "status",
                "Status",
                Unit::Word,
                From::Name(s::GRID_TABLE, "gridStatus", &tables::COREDUMP_GRID_STATUS),
            ),
            shown(
                "size",
                "Blocks",
                Unit::Word,
                From::Triple(s::GRID_TABLE, "gridDim"),
            ),
            shown(
                "block_size",
                "Threads of a block",
                Unit::Word,
                From::Triple(s::GRID_TABLE, "blockDim"),
            ),
            more(
                "cluster_size",
                "Blocks of a cluster",
                Unit::Word,
                From::Triple(s::GRID_TABLE, "clusterDim"),
            ),
            number("registers", "Registers", s::GRID_TABLE, "numRegs"),
            shown(
                "launched_by",
                "Launched by",
                Unit::Word,
                From::Name(s::GRID_TABLE, "origin", &tables::COREDUMP_ORIGIN),
            ),
            more(
                "parent",
                "Grid that launched it",
                Unit::Number,
                From::Number(s::GRID_TABLE, "parentGridId64"),
            ),
            hex("context", "Context", s::GRID_TABLE, "contextId"),
            hex("module", "Module", s::GRID_TABLE, "moduleHandle"),
            of("pc", "Entry", Unit::Hex, Of::Address),
            FILE,
            LINE,
            PATH,
            MEMBER,
        ],
    ),
    (
        "banks",
        Rows::Entries(s::CB_TABLE),
        &[
            DEVICE,
            number("grid", "Grid", s::GRID_TABLE, "gridId64"),
            number("bank", "Bank", s::CB_TABLE, "bankId"),
            hex("address", "Address", s::CB_TABLE, "addr"),
            shown(
                "size",
                "Size",
                Unit::Size,
                From::Number(s::CB_TABLE, "size"),
            ),
        ],
    ),
    (
        "modules",
        Rows::Entries(s::MOD_TABLE),
        &[
            DEVICE,
            hex("context", "Context", s::CTX_TABLE, "contextId"),
            hex("module", "Module", s::MOD_TABLE, "moduleHandle"),
            shown(
                "member",
                "Relocated cubin",
                Unit::Text,
                From::Cubin(s::RELF_IMG),
            ),
            shown("cubin", "Cubin", Unit::Text, From::Cubin(s::ELF_IMG)),
        ],
    ),
    (
        "contexts",
        Rows::Entries(s::CTX_TABLE),
        &[
            DEVICE,
            hex("context", "Context", s::CTX_TABLE, "contextId"),
            hex("shared", "Shared window", s::CTX_TABLE, "sharedWindowBase"),
            hex("local", "Local window", s::CTX_TABLE, "localWindowBase"),
            hex("global", "Global window", s::CTX_TABLE, "globalWindowBase"),
            number("host_thread", "Host thread", s::CTX_TABLE, "tid"),
        ],
    ),
    (
        "devices",
        Rows::Entries(s::DEV_TABLE),
        &[
            number("device", "Device", s::DEV_TABLE, "devId"),
            shown(
                "name",
                "Name",
                Unit::Text,
                From::Text(s::DEV_TABLE, "devName"),
            ),
            shown(
                "type",
                "Type",
                Unit::Text,
                From::Text(s::DEV_TABLE, "devType"),
            ),
            shown("isa", "ISA", Unit::Text, From::Text(s::DEV_TABLE, "smType")),
            number("sms", "SMs", s::DEV_TABLE, "numSMs"),
            number("warps", "Warps of an SM", s::DEV_TABLE, "numWarpsPerSM"),
            number("lanes", "Lanes of a warp", s::DEV_TABLE, "numLanesPerWarp"),
            number("registers", "Registers", s::DEV_TABLE, "numRegsPerLane"),
            number("status", "Status", s::DEV_TABLE, "status"),
        ],
    ),
    (
        "memory",
        Rows::Memory,
        &[
            of("memory", "Memory", Unit::Word, Of::What),
            of("address", "Address", Unit::Hex, Of::Start),
            of("size", "Size", Unit::Size, Of::Size),
            DEVICE,
            SM,
            BLOCK,
            WARP,
            LANE,
            GRID,
            more(
                "file_offset",
                "In the file",
                Unit::Hex,
                From::Row(Of::FileOffset),
            ),
        ],
    ),
    (
        "lane",
        Rows::Lane,
        &[
            of("what", "What", Unit::Word, Of::What),
            of("address", "Address", Unit::Hex, Of::Start),
            of("size", "Size", Unit::Size, Of::Size),
            of("file_offset", "In the file", Unit::Hex, Of::FileOffset),
        ],
    ),
];

/// The tables that a dump has, in the order in which they are reported.
pub const KEYS: &[&str] = &[
    "exceptions",
    "lanes",
    "frames",
    "warps",
    "ctas",
    "sms",
    "grids",
    "banks",
    "modules",
    "contexts",
    "devices",
    "memory",
];

/// Memory, in the order in which it is listed.
const MEMORY: [u32; 5] = [
    s::GLOBAL_MEM,
    s::MANAGED_MEM,
    s::SHARED_MEM,
    s::LOCAL_MEM,
    s::PARAM_MEM,
];

/// A row, taken apart.
#[derive(Default)]
struct Row {
    /// The entry, and those that it belongs to.
    chain: Vec<Entry>,
    /// The section that it is about.
    part: Option<u32>,
    /// The address of code, and whether that is what a call returns to.
    address: Option<u64>,
    is_return: bool,
    exception: Option<u32>,
    lanes: u32,
    frame: Option<u64>,
    /// Its bytes.
    span: Span,
}

impl Row {
    fn entry(&self, kind: u32) -> Option<&Entry> {
        self.chain.iter().find(|entry| entry.kind == kind)
    }

    fn number(&self, kind: u32, field: &str) -> Option<u64> {
        self.entry(kind)?.number(field)
    }
}

/// A table of a core dump.
pub struct CoredumpList<'a> {
    dump: &'a Coredump,
    elf: &'a Elf,
    contents: &'a Contents,
    rows: Rows,
    specs: &'static [Spec],
    columns: OnceCell<Vec<Column>>,
    /// The sections that are rows of the table of one thread.
    parts: Vec<u32>,
    /// Members by where their headers are.
    members: OnceCell<Vec<(u64, u32)>>,
    last: RefCell<Option<(u64, Rc<Row>)>>,
}

impl<'a> CoredumpList<'a> {
    /// The table of that key; `lane/3` has what there is of thread 3.
    pub fn new(
        dump: &'a Coredump,
        elf: &'a Elf,
        contents: &'a Contents,
        key: &str,
    ) -> Option<Self> {
        let (name, of) = key.split_once('/').unwrap_or((key, ""));
        let (_, rows, specs) = TABLES.iter().find(|(known, ..)| *known == name)?;
        let parts = match rows {
            Rows::Lane => parts_of_lane(dump, elf, of.parse().ok()?)?,
            _ if !of.is_empty() => return None,
            _ => Vec::new(),
        };
        Some(Self {
            dump,
            elf,
            contents,
            rows: *rows,
            specs,
            columns: OnceCell::new(),
            parts,
            members: OnceCell::new(),
            last: RefCell::default(),
        })
    }

    fn row(&self, row: u64) -> Option<Rc<Row>> {
        let known = match &*self.last.borrow() {
            Some((last, known)) if *last == row => return Some(known.clone()),
            last => last.as_ref().map(|(_, known)| known.clone()),
        };
        let known = known.as_ref().map_or(&[][..], |known| &known.chain);
        let found = Rc::new(self.read(row, known)?);
        self.last.replace(Some((row, found.clone())));
        Some(found)
    }

    fn read(&self, row: u64, known: &[Entry]) -> Option<Row> {
        let dump = self.dump;
        let mut found = Row::default();
        let at = match self.rows {
            Rows::Entries(kind) => Some(dump.row(kind, row)?),
            Rows::Exceptions => {
                let fault = dump.faults(self.elf).get(usize::try_from(row).ok()?)?;
                found.exception = fault.exception;
                found.address = fault.address;
                found.lanes = fault.lanes;
                Some(fault.at)
            }
            Rows::Frames => {
                let parts = dump.parts_of(s::BT);
                // A part has a row for the thread itself, and one an entry.
                let place = |i: usize| parts[i].0 + i as u64;
                let mut low = 0;
                let mut high = parts.len();
                while low < high {
                    let middle = low + (high - low) / 2;
                    match place(middle) <= row {
                        true => low = middle + 1,
                        false => high = middle,
                    }
                }
                let index = low.checked_sub(1)?;
                let part = parts[index].1;
                let frame = row - place(index);
                if frame > dump.parts[part as usize].count {
                    return None;
                }
                found.frame = Some(frame);
                match frame.checked_sub(1) {
                    None => dump.parts[part as usize].parent(),
                    Some(entry) => {
                        found.is_return = true;
                        Some((part, entry))
                    }
                }
            }
            Rows::Memory | Rows::Lane => {
                let part = self.part(row)?;
                found.part = Some(part);
                dump.parts[part as usize].parent()
            }
        };
        if let Some((part, index)) = at {
            found.chain = dump.chain(self.elf, part, index, known);
            found.span = dump.parts[part as usize].entry(index);
        }
        // Blocks belong to SMs, and say by number of which grid they are.
        let grid = found.number(s::CTA_TABLE, "gridId64");
        let grid = grid.and_then(|number| dump.grid(self.elf, number));
        if let Some((part, index)) = grid {
            let same = known.iter().find(|e| e.part == part && e.index == index);
            let entry = same.cloned().or_else(|| dump.entry(self.elf, part, index));
            found.chain.extend(entry);
        }
        if let Some(part) = found.part {
            found.span = dump.parts[part as usize].span;
        }
        let Some(entry) = found.chain.first() else {
            return Some(found);
        };
        let failed = || entry.number_if("errorPC", "errorPCValid");
        let address = match entry.kind {
            s::LN_TABLE => entry.number("virtualPC"),
            s::BT => entry.number("virtualReturnAddress"),
            s::WP_TABLE | s::SM_TABLE => failed(),
            s::GRID_TABLE => entry.number("functionEntry"),
            _ => None,
        };
        let exception = entry.number("exception").map(|number| number as u32);
        if found.part.is_none() && !matches!(self.rows, Rows::Exceptions) {
            found.address = address;
            found.exception = exception.filter(|&exception| exception != 0);
        }
        Some(found)
    }

    /// The section that is row `row`.
    fn part(&self, row: u64) -> Option<u32> {
        let mut row = usize::try_from(row).ok()?;
        if matches!(self.rows, Rows::Lane) {
            return self.parts.get(row).copied();
        }
        for kind in MEMORY {
            let parts = self.dump.parts_of(kind);
            match parts.get(row) {
                Some(&(_, part)) => return Some(part),
                None => row -= parts.len(),
            }
        }
        None
    }

    fn code(&self, row: &Row) -> Option<Rc<Place>> {
        self.dump.place(self.elf, row.address?, row.is_return)
    }

    /// The path of the member that is the section of that index.
    fn member(&self, section: u32) -> Option<String> {
        let members = self.members.get_or_init(|| {
            let members = (0..).zip(&self.contents.members);
            let own = members.filter(|(_, member)| member.parent.is_none());
            let mut members: Vec<(u64, u32)> = own.map(|(i, m)| (m.header.offset, i)).collect();
            order::arrange(&mut members, |member| member.0);
            members
        });
        let header = self.elf.section(section)?.header;
        let found = members.binary_search_by_key(&header, |member| member.0);
        found.ok().map(|at| self.contents.path(members[at].1))
    }

    fn value(&self, row: &Row, from: From) -> Cell<'_> {
        match from {
            From::Number(kind, field) => row.number(kind, field).into(),
            From::Name(kind, field, names) => row
                .number(kind, field)
                .map(|number| name(names, number))
                .into(),
            From::Text(kind, field) => {
                let at = row.number(kind, field);
                at.and_then(|at| self.dump.text(self.elf, at)).into()
            }
            From::Triple(kind, field) => {
                let axis = |axis: &str| row.number(kind, &[field, axis].concat());
                match (axis("X"), axis("Y"), axis("Z")) {
                    (Some(x), Some(y), Some(z)) => format!("({x}, {y}, {z})").into(),
                    _ => Cell::None,
                }
            }
            From::Lane(field) => {
                let lane = row.number(s::LN_TABLE, "ln");
                let mask = row.number(s::WP_TABLE, field);
                let is_set = lane.zip(mask).map(|(lane, mask)| match lane {
                    0..64 => mask >> lane & 1 != 0,
                    _ => false,
                });
                is_set.into()
            }
            From::Lanes(field) => {
                let mask = row.number(s::WP_TABLE, field);
                mask.map(|mask| ranges(mask as u32)).into()
            }
            From::Cubin(kind) => {
                let module = row.entry(s::MOD_TABLE);
                let mut parts = module
                    .map_or(&[][..], |module| {
                        self.dump.parts_in(module.part, module.index)
                    })
                    .iter()
                    .map(|&part| &self.dump.parts[part as usize]);
                let part = parts.find(|part| part.kind.number == kind);
                part.and_then(|part| self.member(part.section)).into()
            }
            From::Row(of) => self.worked_out(row, of),
        }
    }

    fn worked_out(&self, row: &Row, of: Of) -> Cell<'_> {
        let part = row.part.map(|part| &self.dump.parts[part as usize]);
        let line = || self.code(row).and_then(|code| code.line.clone());
        match of {
            Of::Exception => {
                let number = row.exception.map(u64::from);
                number
                    .map(|number| name(&tables::COREDUMP_EXCEPTION, number))
                    .into()
            }
            Of::Lanes if row.lanes == 0 => Cell::None,
            Of::Lanes => ranges(row.lanes).into(),
            Of::Frame => row.frame.into(),
            Of::Address => row.address.into(),
            Of::Function => self.code(row).map(|code| code.function.clone()).into(),
            Of::Offset => self.code(row).map(|code| code.offset).into(),
            Of::File => line().map(|(path, _)| lines::name(&path).to_owned()).into(),
            Of::Line => line().map(|(_, line)| line).into(),
            Of::Path => line().map(|(path, _)| path).into(),
            Of::Member => {
                let code = self.code(row);
                code.and_then(|code| self.member(code.image)).into()
            }
            Of::Kernel => {
                let entry = row.number(s::GRID_TABLE, "functionEntry");
                let code = entry.and_then(|entry| self.dump.place(self.elf, entry, false));
                code.map(|code| code.function.clone()).into()
            }
            Of::What => part.map(|part| part.kind.title).into(),
            Of::Start => {
                let section = part.and_then(|part| self.elf.section(part.section));
                let address = section.map(|section| section.address);
                address.filter(|&address| address != 0).into()
            }
            Of::Size => part.map(|part| part.span.size).into(),
            Of::FileOffset => {
                let at = part.and_then(|part| self.elf.source().in_file(part.span.offset));
                at.into()
            }
        }
    }
}

impl Table for CoredumpList<'_> {
    fn columns(&self) -> &[Column] {
        let columns = || self.specs.iter().map(|(column, _)| column.clone());
        self.columns.get_or_init(|| columns().collect())
    }

    fn len(&self) -> u64 {
        match self.rows {
            Rows::Entries(kind) => self.dump.entries(kind),
            Rows::Exceptions => self.dump.faults(self.elf).len() as u64,
            Rows::Frames => self.dump.entries(s::BT) + self.dump.parts_of(s::BT).len() as u64,
            Rows::Memory => {
                let counts = MEMORY.iter().map(|&kind| self.dump.parts_of(kind).len());
                counts.sum::<usize>() as u64
            }
            Rows::Lane => self.parts.len() as u64,
        }
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let mut specs = self.specs.iter();
        let spec = specs.find(|(column, _)| column.key == key);
        match (spec, self.row(row)) {
            (Some((_, from)), Some(row)) => self.value(&row, *from),
            _ => Cell::None,
        }
    }

    fn place(&self, row: u64) -> Option<Span> {
        self.row(row)?.span.some()
    }

    fn target(&self, row: u64) -> Option<Span> {
        self.code(&*self.row(row)?)?.code
    }
}

/// What there is of thread `row`: its own, that of its warp, its block and its grid.
fn parts_of_lane(dump: &Coredump, elf: &Elf, row: u64) -> Option<Vec<u32>> {
    let (part, index) = dump.row(s::LN_TABLE, row)?;
    let chain = dump.chain(elf, part, index, &[]);
    let mut parts = Vec::new();
    let mut add = |part: u32, index: u64| {
        let own = dump.parts_in(part, index).iter();
        // Tables of what is below have rows of their own.
        let is_own = |&&part: &&u32| {
            let kind = dump.parts[part as usize].kind.number;
            !matches!(kind, s::WP_TABLE | s::LN_TABLE | s::CTA_TABLE)
        };
        parts.extend(own.filter(is_own));
    };
    for entry in chain
        .iter()
        .filter(|entry| matches!(entry.kind, s::LN_TABLE | s::WP_TABLE | s::CTA_TABLE))
    {
        add(entry.part, entry.index);
    }
    let block = chain.iter().find(|entry| entry.kind == s::CTA_TABLE);
    let grid = block.and_then(|block| block.number("gridId64"));
    if let Some((part, index)) = grid.and_then(|number| dump.grid(elf, number)) {
        add(part, index);
    }
    Some(parts)
}

/// What a number is called; the number where it has no name.
fn name(names: &Names, number: u64) -> String {
    names
        .name(number)
        .map_or_else(|| number.to_string(), Into::into)
}

/// The bits that are set, those in a row as a range: `0-3, 7`.
fn ranges(mask: u32) -> String {
    let mut text = String::new();
    let mut bit = 0;
    while bit < 32 {
        let run = (mask >> bit).trailing_ones();
        if run == 0 {
            bit += 1;
            continue;
        }
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(&bit.to_string());
        if run > 1 {
            text.push('-');
            text.push_str(&(bit + run - 1).to_string());
        }
        bit += run;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_in_a_row_are_a_range() {
        assert_eq!(ranges(0), "");
        assert_eq!(ranges(1), "0");
        assert_eq!(ranges(0x8000_008f), "0-3, 7, 31");
        assert_eq!(ranges(u32::MAX), "0-31");
    }
}

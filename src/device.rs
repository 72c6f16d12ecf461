//! What a file is to a GPU: the one place where the families of devices meet.

use crate::amdgpu::{self, CodeObject, kernarg};
use crate::compatibility::Gpu;
use crate::container::Format;
use crate::elf::map::Part;
use crate::elf::{Dialect, Elf, Header, dialect};
use crate::error::{Diagnostics, Result};
use crate::instructions::InstructionList;
use crate::kernels::{AmdgpuKernelList, AttributeList, CallList, CubinKernelList};
use crate::launch::{Inputs, Launch};
use crate::lists::GpuList;
use crate::metadata::{MetadataList, PrintfList};
use crate::nvidia::runs::Chip;
use crate::nvidia::{self, Code, Coredump, Cubin, coredump};
use crate::occupancy::OccupancyAnswer;
use crate::record::Record;
use crate::rows::Table;
use crate::text::Text;
use crate::words::WordList;

/// What a file is to a GPU.
#[derive(Debug)]
pub enum Device {
    /// Nothing: a program for the host, or no ELF file.
    None,
    /// Code for NVIDIA's.
    Cubin(Box<Cubin>),
    /// What NVIDIA's had when a kernel failed.
    Coredump(Box<Coredump>),
    /// Code for AMD's.
    CodeObject(Box<CodeObject>),
}

impl Device {
    /// What the machine of a file's header adds to ELF.
    pub fn dialect(format: Format) -> impl FnOnce(&Header) -> &'static Dialect {
        move |header| match format {
            Format::Cubin => &nvidia::DIALECT,
            Format::CudaCoredump => &coredump::DIALECT,
            Format::Amdgpu => &amdgpu::DIALECT,
            _ => dialect::of_host(header.e_machine),
        }
    }

    /// Reads what the ELF file is to a GPU.
    pub fn open(format: Format, elf: &Elf, findings: &mut Diagnostics) -> Self {
        match format {
            Format::Cubin => Self::Cubin(Box::new(Cubin::open(elf, findings))),
            Format::CudaCoredump => Self::Coredump(Box::new(Coredump::open(elf, findings))),
            Format::Amdgpu => Self::CodeObject(Box::new(CodeObject::open(elf, findings))),
            _ => Self::None,
        }
    }

    /// Whether it is code that a loader takes.
    pub fn is_code(&self) -> bool {
        matches!(self, Self::Cubin(_) | Self::CodeObject(_))
    }

    /// What it runs on.
    pub fn target(&self) -> Option<String> {
        match self {
            Self::None => None,
            Self::Cubin(cubin) => Some(cubin.target.clone()),
            Self::Coredump(dump) => dump.target.clone(),
            Self::CodeObject(object) => object.target.clone(),
        }
    }

    /// Further words of identity.
    pub fn facts(&self) -> Vec<String> {
        match self {
            Self::None => Vec::new(),
            Self::Cubin(cubin) => cubin.facts(),
            Self::Coredump(dump) => dump.facts.clone(),
            Self::CodeObject(object) => object.facts(),
        }
    }

    /// GPUs of the file's family, and whether its code runs on them; `None` where that is not known.
    pub fn gpu_list(&self) -> Option<GpuList> {
        match self {
            Self::None | Self::Coredump(_) => None,
            Self::Cubin(cubin) => Some(GpuList(cubin.gpus())),
            Self::CodeObject(object) => Some(GpuList(object.gpus())),
        }
    }

    /// Whether its code runs on the GPU that is asked for, by the family's own names; `None` if there is no such GPU.
    pub fn runs_on(&self, asked: &str) -> Option<Gpu> {
        match self {
            Self::None | Self::Coredump(_) => None,
            Self::Cubin(cubin) => Some(cubin.runs_on(Chip::named(asked)?)),
            Self::CodeObject(object) => object.runs_on(asked),
        }
    }

    /// The checks that read whole tables.
    pub fn check(&self, elf: &Elf, findings: &mut Diagnostics) {
        match self {
            Self::None | Self::Coredump(_) => {}
            Self::Cubin(cubin) => cubin.check(elf, findings),
            Self::CodeObject(object) => object.check(elf, findings),
        }
    }

    /// The record that holds the byte at `offset` in `part`, where the family knows of one.
    ///
    /// # Errors
    /// If its bytes cannot be read.
    pub fn record_in(&self, elf: &Elf, part: Part, offset: u64) -> Result<Option<Record>> {
        let section = match part {
            Part::Section(index) => elf.section(index),
            _ => None,
        };
        match (self, section) {
            (Self::Cubin(cubin), Some(section)) => cubin.record_in(elf, section, offset),
            (Self::Coredump(dump), Some(section)) => dump.record_in(elf, section, offset),
            (Self::CodeObject(object), Some(section)) => object.record_in(elf, section, offset),
            // Code objects are loaded by their segments, and need no section headers.
            (Self::CodeObject(object), None) if matches!(part, Part::Segment(_)) => {
                object.record_at(elf, offset)
            }
            _ => Ok(None),
        }
    }

    /// The calls between functions as a table.
    pub fn call_list<'a>(&'a self, elf: &'a Elf) -> Option<Box<dyn Table + 'a>> {
        match self {
            Self::Cubin(cubin) => Some(Box::new(CallList::new(elf, cubin))),
            _ => None,
        }
    }

    /// The attributes of the kernel of that index as a table.
    pub fn attribute_list<'a>(&self, elf: &'a Elf, kernel: usize) -> Option<Box<dyn Table + 'a>> {
        match self {
            Self::Cubin(cubin) => {
                let kernel = cubin.kernels.get(kernel)?;
                Some(Box::new(AttributeList(kernel.attributes(elf))))
            }
            _ => None,
        }
    }

    /// The kernels as a table.
    pub fn kernel_list(&self) -> Option<Box<dyn Table + '_>> {
        match self {
            Self::None | Self::Coredump(_) => None,
            Self::Cubin(cubin) => Some(Box::new(CubinKernelList(&cubin.kernels))),
            Self::CodeObject(object) => Some(Box::new(AmdgpuKernelList(&object.kernels))),
        }
    }

    /// The metadata as a table: every key and item.
    pub fn metadata_list(&self) -> Option<Box<dyn Table + '_>> {
        match self {
            Self::CodeObject(object) => Some(Box::new(MetadataList(object.metadata.as_ref()?))),
            _ => None,
        }
    }

    /// The calls of printf that the metadata lists.
    pub fn printf_list(&self) -> Option<Box<dyn Table + '_>> {
        match self {
            Self::CodeObject(object) => {
                Some(Box::new(PrintfList(object.metadata.as_ref()?.printf())))
            }
            _ => None,
        }
    }

    /// What a dispatch passes to the kernel of that index, where kernels are passed a segment of their own.
    pub fn kernarg(&self, kernel: usize) -> Option<Record> {
        match self {
            Self::CodeObject(object) => object.kernels.get(kernel).map(kernarg::record),
            _ => None,
        }
    }

    /// What a launch of the kernel of that index hands to the GPU.
    pub fn launch(&self, elf: &Elf, kernel: usize, inputs: &Inputs) -> Option<Launch> {
        match self {
            Self::None | Self::Coredump(_) => None,
            Self::Cubin(cubin) => cubin.launch(elf, kernel, inputs),
            Self::CodeObject(object) => object.launch(elf, kernel, inputs),
        }
    }

    /// How many groups of a launch of that kernel run at once.
    pub fn occupancy(&self, kernel: usize, inputs: &Inputs) -> Option<OccupancyAnswer> {
        match self {
            Self::None | Self::Coredump(_) => None,
            Self::Cubin(cubin) => cubin.occupancy(kernel, inputs),
            Self::CodeObject(object) => object.occupancy(kernel, inputs),
        }
    }

    /// The code of the kernel of that index, where its encoding is known.
    pub fn code<'a>(&self, elf: &'a Elf, kernel: usize) -> Option<Code<'a>> {
        match self {
            Self::Cubin(cubin) => cubin.code(elf, kernel),
            _ => None,
        }
    }

    /// The code of the kernel of that index as a table: its instructions, or where these are not decoded its words.
    pub fn instruction_list<'a>(&self, elf: &'a Elf, kernel: usize) -> Option<Box<dyn Table + 'a>> {
        match self {
            Self::Cubin(cubin) => Some(Box::new(InstructionList::new(
                cubin.code(elf, kernel)?,
                cubin.lines(elf, kernel)?,
            ))),
            Self::CodeObject(object) => {
                Some(Box::new(WordList::new(elf, object.code(elf, kernel)?)))
            }
            Self::None | Self::Coredump(_) => None,
        }
    }

    /// Text for people that is in it: the source that it was made from.
    pub fn texts(&self) -> &[Text] {
        match self {
            Self::None | Self::Coredump(_) => &[],
            Self::Cubin(cubin) => &cubin.texts,
            Self::CodeObject(object) => &object.texts,
        }
    }
}

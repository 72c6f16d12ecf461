//! The report: the whole of a file in one JSON object, as `report.schema.json` has it.
//!
//! It is written as it is read: tables are not collected first.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::coredump;
use crate::decode::Dumped;
use crate::device::Device;
use crate::document::Document;
use crate::dumps;
use crate::elf::{Elf, Image};
use crate::nvidia::{Attributes, Kernel};
use crate::rows::{Rows, Table};

/// The report of a file. Run [`Document::check_all`] before, or findings are missing.
pub struct Report<'a>(pub &'a Document);

impl Serialize for Report<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let document = self.0;
        let elf = document.elf();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("format", &document.format())?;
        map.serialize_entry("compression", &document.contents().compression())?;
        map.serialize_entry("size", &Int(document.source().size()))?;
        map.serialize_entry("target", &document.target())?;
        map.serialize_entry("facts", &document.facts())?;
        map.serialize_entry("verdict", &document.verdict())?;
        map.serialize_entry("diagnostics", &document.findings().all())?;
        map.serialize_entry("elf", &elf.map(HeaderReport))?;
        for key in [
            "sections",
            "segments",
            "symbols",
            "relocations",
            "other_relocations",
            "notes",
            "texts",
        ] {
            map.serialize_entry(key, &document.table(key).map(TableReport))?;
        }
        if let Some(dumped) = document.dumped() {
            map.serialize_entry("decoded", &dumped.decoded)?;
            map.serialize_entry("records", &DumpRecords(dumped))?;
            for key in dumps::TABLES {
                map.serialize_entry(key, &document.table(key).map(TableReport))?;
            }
        }
        let (held, loaded) = document.images();
        let held = held.filter(|_| elf.is_some_and(|elf| !elf.sections.is_empty()));
        map.serialize_entry("image", &held.map(|image| ImageReport(image, false)))?;
        map.serialize_entry("load_image", &loaded.map(|image| ImageReport(image, true)))?;
        let kernels = document.kernel_count().map(|_| Kernels(document));
        map.serialize_entry("kernels", &kernels)?;
        if let Some(gpus) = document.gpu_list() {
            let gpus = TableReport(Box::new(gpus.of_those_that_run()));
            map.serialize_entry("runs_on", &gpus)?;
        }
        if let Device::CodeObject(object) = document.device() {
            map.serialize_entry("metadata", &object.metadata)?;
        }
        if let Device::Cubin(_) = document.device() {
            map.serialize_entry("calls", &document.table("calls").map(TableReport))?;
        }
        if let Device::Coredump(_) = document.device() {
            map.serialize_entry("coredump", &CoredumpReport(document))?;
        }
        for key in ["archs", "members", "wrappers", "launchers"] {
            map.serialize_entry(key, &document.table(key).map(TableReport))?;
        }
        map.serialize_entry("map", &document.table("map").map(TableReport))?;
        map.end()
    }
}

/// The structures of a dump, written as they are read.
struct DumpRecords<'a>(&'a Dumped);

impl Serialize for DumpRecords<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.records())
    }
}

struct Int(u64);

impl Serialize for Int {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        crate::int::serialize(&self.0, serializer)
    }
}

/// The tables of a core dump.
struct CoredumpReport<'a>(&'a Document);

impl Serialize for CoredumpReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = coredump::KEYS.iter();
        serializer.collect_map(keys.map(|key| (key, self.0.table(key).map(TableReport))))
    }
}

struct TableReport<'a>(Box<dyn Table + 'a>);

impl Serialize for TableReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Rows(&*self.0).serialize(serializer)
    }
}

struct HeaderReport<'a>(&'a Elf);

impl Serialize for HeaderReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Header {
            class: u32,
            os_abi: u8,
            abi_version: u8,
            r#type: u16,
            type_name: Option<&'static str>,
            machine: u16,
            version: u32,
            flags: u32,
            #[serde(serialize_with = "crate::int::serialize")]
            entry: u64,
        }
        let header = &self.0.header;
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(
            "header",
            &Header {
                class: header.class.bits(),
                os_abi: header.os_abi,
                abi_version: header.abi_version,
                r#type: header.e_type,
                type_name: header.type_name(self.0.dialect),
                machine: header.e_machine,
                version: header.e_version,
                flags: header.e_flags,
                entry: header.e_entry,
            },
        )?;
        map.end()
    }
}

/// An image, and whether its pieces are segments.
struct ImageReport<'a>(&'a Image, bool);

impl Serialize for ImageReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(image, by_segments) = *self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("address", &Int(image.address))?;
        map.serialize_entry("size", &Int(image.size))?;
        map.serialize_entry("align", &Int(image.align))?;
        let key = if by_segments { "segments" } else { "sections" };
        map.serialize_entry(key, &Pieces(image, by_segments))?;
        map.end()
    }
}

struct Pieces<'a>(&'a Image, bool);

impl Serialize for Pieces<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Piece {
            #[serde(skip_serializing_if = "Option::is_none")]
            section: Option<u32>,
            #[serde(skip_serializing_if = "Option::is_none")]
            segment: Option<u32>,
            offset: Int,
            size: Int,
            file_offset: Int,
            file_size: Int,
            memory_size: Int,
        }
        let Self(image, by_segments) = *self;
        serializer.collect_seq(image.pieces.iter().map(|piece| Piece {
            section: (!by_segments).then_some(piece.owner),
            segment: by_segments.then_some(piece.owner),
            offset: Int(piece.offset),
            size: Int(piece.size),
            file_offset: Int(piece.stored.offset),
            file_size: Int(piece.stored.size.min(piece.size)),
            memory_size: Int(piece.size),
        }))
    }
}

struct Kernels<'a>(&'a Document);

impl Serialize for Kernels<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.0.device(), self.0.elf()) {
            (Device::Cubin(cubin), Some(elf)) => {
                serializer.collect_seq(cubin.kernels.iter().map(|kernel| CubinKernelReport {
                    kernel,
                    attributes: kernel.attributes(elf),
                }))
            }
            (Device::CodeObject(object), _) => serializer.collect_seq(&object.kernels),
            _ => serializer.collect_seq([(); 0]),
        }
    }
}

/// A cubin's kernel, and its attributes, which are read as they are written.
#[derive(Serialize)]
struct CubinKernelReport<'a> {
    #[serde(flatten)]
    kernel: &'a Kernel,
    attributes: Attributes<'a>,
}

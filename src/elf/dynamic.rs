//! Files without section headers: what the dynamic table says of symbols and relocations.

use object::elf::{self, Dyn32, Dyn64};
use object::read::elf::Dyn;

use super::{Class, Elf, LE, RelocationTable, SymbolTable, Table, pod, relocation};
use crate::error::{Diagnostic, Diagnostics, Kind};
use crate::span::Span;

/// Entries of a dynamic table that are read, at most.
const LIMIT: u64 = 4096;

/// Finds the symbol table and the relocations by the dynamic table.
pub(super) fn describe(elf: &mut Elf, findings: &mut Diagnostics) {
    let Some(segment) = elf.segments.iter().find(|s| s.kind == elf::PT_DYNAMIC.0) else {
        return;
    };
    let class = elf.header.class;
    let stride = class.choose(8, 16);
    let span = segment.span().clamp(elf.source().size());
    let span = Span::new(span.offset, span.size.min(LIMIT * stride));
    let Some(bytes) = findings.take(elf.source().read(span)) else {
        return;
    };
    let mut entries = Vec::new();
    for bytes in bytes.chunks_exact(stride as usize) {
        let entry = match class {
            Class::Elf32 => pod(bytes).map(|raw: Dyn32<_>| (raw.tag(LE).0, raw.val(LE))),
            Class::Elf64 => pod(bytes).map(|raw: Dyn64<_>| (raw.tag(LE).0, raw.val(LE))),
        };
        match entry {
            Some((tag, value)) if tag != elf::DT_NULL.0 => entries.push((tag, value)),
            _ => break,
        }
    }
    let value = |tag: elf::DynamicTag| entries.iter().find(|e| e.0 == tag.0).map(|e| e.1);
    let place = |tag: elf::DynamicTag| {
        let address = value(tag)?;
        let offset = elf.offset_of_address(address);
        Some((offset, address))
    };
    let mut symbol_tables = Vec::new();
    let mut relocation_tables = Vec::new();
    if let Some((Some(offset), _)) = place(elf::DT_SYMTAB) {
        let stride = class.choose(16, 24);
        let count = symbol_count(elf, &value).unwrap_or(0);
        let strings = value(elf::DT_STRTAB).and_then(|address| elf.offset_of_address(address));
        let there = elf.source().size().saturating_sub(offset) / stride;
        if count > there {
            findings.push(
                Diagnostic::error(
                    Kind::Format,
                    "the dynamic symbols run past the end of the file",
                )
                .expected(format!("at most {there}"), count)
                .within("dynamic table, DT_SYMTAB")
                .at(elf.source().absolute(offset)),
            );
        }
        let table = Table {
            offset,
            count: count.min(there),
            stride,
        };
        let strings = Span::new(strings.unwrap_or(0), value(elf::DT_STRSZ).unwrap_or(0));
        symbol_tables.push(SymbolTable {
            section: None,
            is_dynamic: true,
            table,
            strings: strings.clamp(elf.source().size()),
            extended: None,
        });
    }
    for (start, size, has_addends) in [
        (elf::DT_REL, elf::DT_RELSZ, false),
        (elf::DT_RELA, elf::DT_RELASZ, true),
    ] {
        let Some((Some(offset), _)) = place(start) else {
            continue;
        };
        let stride = match has_addends {
            false => class.choose(8, 16),
            true => class.choose(12, 24),
        };
        let size = value(size).unwrap_or(0);
        let span = Span::new(offset, size).clamp(elf.source().size());
        relocation_tables.push(RelocationTable {
            section: None,
            has_addends,
            target: None,
            symbols: 0,
            table: Table {
                offset,
                count: span.size / stride,
                stride,
            },
        });
    }
    if let Some((Some(offset), _)) = place(elf::DT_RELR) {
        let size = value(elf::DT_RELRSZ).unwrap_or(0);
        relocation::packed(elf, size, "dynamic table, DT_RELR".into(), offset, findings);
    }
    elf.symbol_tables = symbol_tables;
    elf.relocation_tables = relocation_tables;
}

/// The number of symbols: DT_HASH has it as the number of its chains.
fn symbol_count(elf: &Elf, value: &impl Fn(elf::DynamicTag) -> Option<u64>) -> Option<u64> {
    let word = |offset: u64| {
        let mut bytes = [0; 4];
        elf.source().read_into(offset, &mut bytes).ok()?;
        Some(u32::from_le_bytes(bytes))
    };
    if let Some(hash) = value(elf::DT_HASH) {
        return word(elf.offset_of_address(hash)?.checked_add(4)?).map(u64::from);
    }
    // DT_GNU_HASH: the last chain ends behind the last symbol.
    let table = elf.offset_of_address(value(elf::DT_GNU_HASH)?)?;
    let [buckets, first, bloom] = [0, 4, 8].map(|at| word(table + at));
    let (buckets, first, bloom) = (buckets?, first?, bloom?);
    let buckets_at = table.checked_add(16 + u64::from(bloom) * elf.header.class.choose(4, 8))?;
    let chains_at = buckets_at.checked_add(u64::from(buckets) * 4)?;
    let bytes = elf
        .source()
        .hold(Span::new(buckets_at, u64::from(buckets) * 4))
        .ok()?;
    let words = bytes.chunks_exact(4);
    let mut last = words
        .map(|b| u32::from_le_bytes(b.try_into().unwrap_or_default()))
        .max()?;
    if last < first {
        return Some(first.into());
    }
    while word(chains_at.checked_add(u64::from(last - first) * 4)?)? & 1 == 0 {
        last = last.checked_add(1)?;
    }
    Some(u64::from(last) + 1)
}

impl Elf {
    /// The file offset of what PT_LOAD segments put at `address`.
    pub fn offset_of_address(&self, address: u64) -> Option<u64> {
        let segments = self.segments.iter().filter(|s| s.is_load());
        segments
            .filter(|s| Span::new(s.virtual_address, s.file_size).contains(address))
            .find_map(|s| s.offset.checked_add(address - s.virtual_address))
    }
}

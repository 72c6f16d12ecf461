//! Cubins and code objects written byte for byte.

/// A section to be written.
#[derive(Clone, Default)]
#[allow(missing_docs)]
pub struct Made {
    pub name: String,
    pub kind: u32,
    pub flags: u64,
    pub bytes: Vec<u8>,
    /// `sh_size`, where it has no bytes.
    pub size: Option<u64>,
    /// Where its bytes are those of an earlier section: its index.
    pub shares: Option<usize>,
    pub link: u32,
}

/// The code of a function.
pub fn code(name: &str, size: usize) -> Made {
    Made {
        name: format!(".text.{name}"),
        kind: 1,
        flags: 6,
        bytes: vec![0x5a; size],
        ..Made::default()
    }
}

/// A constant bank.
pub fn bank(index: &str, size: usize) -> Made {
    Made {
        name: format!(".nv.constant{index}"),
        kind: 1,
        flags: 2,
        bytes: vec![1; size],
        ..Made::default()
    }
}

/// Attributes.
pub fn info(name: &str, bytes: Vec<u8>) -> Made {
    Made {
        name: format!(".nv.info{name}"),
        kind: 0x7000_0000,
        bytes,
        link: 1,
        ..Made::default()
    }
}

/// An attribute with bytes behind its head.
pub fn attribute(id: u8, words: &[u32]) -> Vec<u8> {
    let size = (words.len() * 4) as u16;
    let mut bytes = vec![4, id];
    bytes.extend(size.to_le_bytes());
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    bytes
}

/// What the file header says of the file: OS ABI and its version, type, machine, version, flags.
struct Header(u8, u8, u16, u16, u32, u32);

/// A cubin for sm_90 of CUDA 12.8: symbols (name, section, value) in section 1, their names in section 2, then
/// `sections` from index 3 on.
pub fn make(symbols: &[(&str, u16, u64)], sections: &[Made]) -> Vec<u8> {
    write(Header(0x33, 7, 2, 190, 128, 0x5a_055a), symbols, sections)
}

/// A code object V5 for gfx906 with any mode of XNACK and of SRAMECC, its symbols and sections as those of a cubin.
pub fn code_object(symbols: &[(&str, u16, u64)], sections: &[Made]) -> Vec<u8> {
    write(Header(64, 3, 3, 224, 1, 0x52f), symbols, sections)
}

/// The note with the metadata of a code object, as a section.
pub fn metadata(message: &[u8]) -> Made {
    note("AMDGPU", 32, message)
}

/// A section of one note.
pub fn note(owner: &str, kind: u32, content: &[u8]) -> Made {
    let mut bytes = Vec::new();
    for word in [owner.len() as u32 + 1, content.len() as u32, kind] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(owner.bytes());
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes.extend(content);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    Made {
        name: ".note".into(),
        kind: 7,
        flags: 2,
        bytes,
        ..Made::default()
    }
}

/// A code object of so many kernels of 256 bytes, each with its descriptor, and its metadata with one argument of
/// `8 + i % 8` bytes for kernel i.
pub fn code_object_of(count: usize) -> Vec<u8> {
    // A text, a number below 128 and the head of a map or list in MessagePack.
    let text = |text: &str| [&[0xd9, text.len() as u8], text.as_bytes()].concat();
    let mut message = vec![0x81];
    message.extend(text("amdhsa.kernels"));
    message.push(0xdd);
    message.extend((count as u32).to_be_bytes());
    let mut names = Vec::new();
    let mut descriptors = Vec::new();
    for i in 0..count {
        let name = format!("kernel_{i:06}");
        message.push(0x83);
        for (key, value) in [(".name", name.clone()), (".symbol", format!("{name}.kd"))] {
            message.extend([text(key), text(&value)].concat());
        }
        message.extend(text(".args"));
        message.extend([0x91, 0x83]);
        message.extend([text(".offset"), vec![0]].concat());
        message.extend([text(".size"), vec![8 + i as u8 % 8]].concat());
        message.extend([text(".value_kind"), text("by_value")].concat());
        let mut descriptor = [0; 64];
        descriptor[8] = 16; // kernarg_size
        // The code is behind the descriptors.
        let entry = (count - i) as u64 * 64 + i as u64 * 256;
        descriptor[16..24].copy_from_slice(&entry.to_le_bytes());
        descriptors.extend(descriptor);
        names.push((format!("{name}.kd"), 4, i as u64 * 64));
        names.push((name, 5, i as u64 * 256));
    }
    let held = |name: &str, flags, bytes| Made {
        name: name.into(),
        kind: 1,
        flags,
        bytes,
        ..Made::default()
    };
    let symbols: Vec<_> = names
        .iter()
        .map(|(name, section, value)| (name.as_str(), *section, *value))
        .collect();
    let code = vec![0; count * 256];
    let sections = [
        metadata(&message),
        held(".rodata", 2, descriptors),
        held(".text", 6, code),
    ];
    code_object(&symbols, &sections)
}

fn write(about: Header, symbols: &[(&str, u16, u64)], sections: &[Made]) -> Vec<u8> {
    let mut names = vec![0];
    let mut table = vec![0; 24];
    for (name, section, value) in symbols {
        table.extend((names.len() as u32).to_le_bytes());
        table.extend([0x12, 0x10]);
        table.extend(section.to_le_bytes());
        table.extend(value.to_le_bytes());
        table.extend([0; 8]);
        names.extend(name.bytes());
        names.push(0);
    }
    let mut all = vec![Made::default()];
    all.push(Made {
        name: ".symtab".into(),
        kind: 2,
        bytes: table,
        link: 2,
        ..Made::default()
    });
    all.push(Made {
        name: ".strtab".into(),
        kind: 3,
        bytes: names,
        ..Made::default()
    });
    all.extend_from_slice(sections);
    let mut strings = vec![0];
    let mut at = Vec::new();
    for section in &all {
        at.push(strings.len() as u32);
        strings.extend(section.name.bytes());
        strings.push(0);
    }
    at.push(0);
    all.push(Made {
        kind: 3,
        bytes: strings,
        ..Made::default()
    });

    let mut file = vec![0; 64];
    let mut places: Vec<(u64, u64)> = Vec::new();
    for section in &all {
        match section.shares {
            Some(index) => places.push(places[index]),
            None => {
                file.resize(file.len().next_multiple_of(8), 0);
                let size = section.size.unwrap_or(section.bytes.len() as u64);
                places.push((file.len() as u64, size));
                file.extend(&section.bytes);
            }
        }
    }
    file.resize(file.len().next_multiple_of(8), 0);
    let table = file.len() as u64;
    for ((section, place), name) in all.iter().zip(&places).zip(&at) {
        file.extend(name.to_le_bytes());
        file.extend(section.kind.to_le_bytes());
        let entry_size = if section.kind == 2 { 24 } else { 0 };
        let align = u64::from(section.kind != 0);
        for word in [section.flags, 0, place.0, place.1] {
            file.extend(u64::to_le_bytes(word));
        }
        file.extend(section.link.to_le_bytes());
        file.extend([0; 4]);
        file.extend(align.to_le_bytes());
        file.extend(u64::to_le_bytes(entry_size));
    }
    let count = all.len() as u64;
    // Larger numbers of sections stand in section 0.
    if count >= 0xff00 {
        let zero = table as usize;
        file[zero + 32..zero + 40].copy_from_slice(&count.to_le_bytes());
        file[zero + 40..zero + 44].copy_from_slice(&(count as u32 - 1).to_le_bytes());
    }
    let (e_shnum, e_shstrndx) = match count {
        0xff00.. => (0, 0xffff),
        _ => (count as u16, count as u16 - 1),
    };
    let Header(os_abi, abi_version, kind, machine, version, flags) = about;
    let mut header = b"\x7fELF\x02\x01\x01".to_vec();
    header.extend([os_abi, abi_version, 0, 0, 0, 0, 0, 0, 0]);
    header.extend(kind.to_le_bytes());
    header.extend(machine.to_le_bytes());
    header.extend(version.to_le_bytes());
    header.extend([0; 16]);
    header.extend(table.to_le_bytes());
    header.extend(flags.to_le_bytes());
    for half in [64_u16, 0, 0, 64, e_shnum, e_shstrndx] {
        header.extend(half.to_le_bytes());
    }
    file[..64].copy_from_slice(&header);
    file
}

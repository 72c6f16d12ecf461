//! What a code object is for: the processor, and how it is set up.

use std::fmt;

use super::{Processor, tables};
use crate::elf::Header;

/// `EI_OSABI` of code objects for AMD's HSA runtime.
const OS_ABI_HSA: u8 = 64;
/// That of code objects for AMD's platform abstraction library, on which its graphics drivers stand.
pub const OS_ABI_PAL: u8 = 65;
/// That of code objects for Mesa's drivers.
const OS_ABI_MESA3D: u8 = 66;

/// How a feature of the processor has to be set for the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The processor does not have it.
    Unsupported,
    /// The code runs with and without.
    Any,
    /// It has to be off.
    Off,
    /// It has to be on.
    On,
}

impl Setting {
    /// By the two bits that `e_flags` has for it from V4 on.
    fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            0 => Self::Unsupported,
            1 => Self::Any,
            2 => Self::Off,
            _ => Self::On,
        }
    }

    /// By a flag, of processors that have it.
    fn from_flag(has: bool, on: bool) -> Self {
        match (has, on) {
            (_, true) => Self::On,
            (true, false) => Self::Off,
            (false, false) => Self::Unsupported,
        }
    }

    /// `+` or `-` where the code asks for it.
    pub fn sign(self) -> Option<char> {
        match self {
            Self::On => Some('+'),
            Self::Off => Some('-'),
            Self::Any | Self::Unsupported => None,
        }
    }
}

/// What a code object is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The processor.
    pub processor: &'static Processor,
    /// How XNACK (replay of faulting accesses) has to be set.
    pub xnack: Setting,
    /// How SRAMECC (error correction of memory on the chip) has to be set.
    pub sramecc: Setting,
}

/// The target ID as LLVM spells it: features by name, those that can be any left out.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.processor.name)?;
        for feature in self.features() {
            write!(f, ":{feature}")?;
        }
        Ok(())
    }
}

/// The version of a code object for HSA, by its ABI version; `None` for other systems and for
/// versions that are not known.
pub fn version(header: &Header) -> Option<u32> {
    let is_known = header.os_abi == OS_ABI_HSA
        && tables::ABI_VERSION
            .get(u64::from(header.abi_version))
            .is_some();
    is_known.then(|| u32::from(header.abi_version) + 2)
}

/// Which system the code is for, where that is not HSA.
pub fn system(header: &Header) -> Option<&'static str> {
    match header.os_abi {
        OS_ABI_HSA => None,
        OS_ABI_PAL => Some("PAL"),
        OS_ABI_MESA3D => Some("Mesa 3D"),
        _ => Some("no system that is named"),
    }
}

/// `EF_AMDGPU_MACH`: which processor `e_flags` says.
pub fn mach(header: &Header) -> u32 {
    header.e_flags & 0xff
}

/// The version of a generic processor; `None` where the format has no place for it.
pub fn generic_version(header: &Header) -> Option<u32> {
    (header.abi_version >= 4).then_some(header.e_flags >> 24)
}

impl Target {
    /// What the file header says. `None` if it names no processor, or one that is not known.
    pub fn from_header(header: &Header) -> Option<Self> {
        let processor = Processor::by_mach(mach(header))?;
        let flags = header.e_flags;
        Some(if header.abi_version < 2 {
            // Up to V3 code that runs with and without the feature is marked as if it had to be on.
            Self {
                processor,
                xnack: Setting::from_flag(processor.xnack, flags & 0x100 != 0),
                sramecc: Setting::from_flag(processor.sramecc, flags & 0x200 != 0),
            }
        } else {
            Self {
                processor,
                xnack: Setting::from_bits(flags >> 8),
                sramecc: Setting::from_bits(flags >> 10),
            }
        })
    }

    /// A processor of which is not said how it is set up.
    pub fn of(processor: &'static Processor) -> Self {
        let setting = |has| {
            if has {
                Setting::Any
            } else {
                Setting::Unsupported
            }
        };
        Self {
            processor,
            xnack: setting(processor.xnack),
            sramecc: setting(processor.sramecc),
        }
    }

    /// The target of that ID: features in any order, with what LLVM calls the triple before it or not.
    pub fn named(id: &str) -> Option<Self> {
        let id = id.rsplit_once("--").map_or(id, |(_, id)| id);
        let mut words = id.split(':');
        let mut target = Self::of(Processor::named(words.next()?)?);
        for word in words {
            let (name, setting) = match (word.strip_suffix('+'), word.strip_suffix('-')) {
                (Some(name), _) => (name, Setting::On),
                (_, Some(name)) => (name, Setting::Off),
                _ => return None,
            };
            let feature = match name {
                "xnack" => &mut target.xnack,
                "sramecc" => &mut target.sramecc,
                _ => return None,
            };
            if *feature != Setting::Any {
                return None;
            }
            *feature = setting;
        }
        Some(target)
    }

    /// What the ISA version of a V2 code object stands for: V2 numbers processors by their XNACK
    /// setting too (AMDGPUUsage, code object V2 supported processors).
    pub fn from_isa_version([major, minor, stepping]: [u32; 3]) -> Option<Self> {
        let (minor, stepping, on) = match (major, minor, stepping) {
            (8, 0, 0) => (0, 2, false),
            (8, 0, 1) | (8, 1, 0) => (minor, stepping, true),
            (8, 0, 4) => (0, 3, false),
            (9, 0, 1 | 3 | 5 | 7) => (0, stepping - 1, true),
            _ => (minor, stepping, false),
        };
        let processor = Processor::named(&format!("gfx{major}{minor}{stepping:x}"))?;
        Some(Self {
            processor,
            xnack: Setting::from_flag(processor.xnack, on),
            sramecc: Setting::from_flag(processor.sramecc, false),
        })
    }

    /// What the ISA name of a V2 code object stands for: `amdgcn-amd-amdhsa--gfx901`.
    pub fn from_isa_name(name: &str) -> Option<Self> {
        let (_, digits) = name.rsplit_once("gfx")?;
        let (at, stepping) = digits.char_indices().next_back()?;
        let (before, minor) = digits[..at]
            .char_indices()
            .next_back()
            .and_then(|(at, minor)| Some((digits.get(..at)?, minor)))?;
        Self::from_isa_version([
            before.parse().ok()?,
            minor.to_digit(10)?,
            stepping.to_digit(16)?,
        ])
    }

    /// The features that the code asks for, such as `xnack-`.
    pub fn features(&self) -> Vec<String> {
        [("sramecc", self.sramecc), ("xnack", self.xnack)]
            .into_iter()
            .filter_map(|(name, setting)| setting.sign().map(|sign| format!("{name}{sign}")))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::Class;

    fn header(abi_version: u8, e_flags: u32) -> Header {
        Header {
            class: Class::Elf64,
            os_abi: OS_ABI_HSA,
            abi_version,
            e_type: 3,
            e_machine: super::super::EM_AMDGPU,
            e_version: 1,
            e_entry: 0,
            e_phoff: 0,
            e_shoff: 0,
            e_flags,
            e_ehsize: 64,
            e_phentsize: 56,
            e_phnum: 0,
            e_shentsize: 64,
            e_shnum: 0,
            e_shstrndx: 0,
        }
    }

    fn target(abi_version: u8, e_flags: u32) -> String {
        Target::from_header(&header(abi_version, e_flags)).map_or("none".into(), |t| t.to_string())
    }

    #[test]
    fn e_flags_say_the_target_by_version() {
        // llvm-readelf 22: 0xd2f is "gfx906, xnack, sramecc+", 0x22f "gfx906, xnack-", …
        for version in [2, 3, 4] {
            assert_eq!(target(version, 0x52f), "gfx906");
            assert_eq!(target(version, 0x22f), "gfx906:xnack-");
            assert_eq!(target(version, 0xd2f), "gfx906:sramecc+");
            assert_eq!(target(version, 0xf2f), "gfx906:sramecc+:xnack+");
            assert_eq!(target(version, 0x82f), "gfx906:sramecc-");
            assert_eq!(target(version, 0x36), "gfx1030");
        }
        assert_eq!(target(1, 0x32f), "gfx906:sramecc+:xnack+");
        assert_eq!(target(1, 0x12f), "gfx906:sramecc-:xnack+");
        assert_eq!(target(1, 0x36), "gfx1030");
        assert_eq!(target(3, 0xfe), "none");
        assert_eq!(target(4, 0x100_0054), "gfx11-generic");
        assert_eq!(generic_version(&header(4, 0x100_0054)), Some(1));
        assert_eq!(generic_version(&header(3, 0x100_0054)), None);
        assert_eq!(version(&header(4, 0)), Some(6));
        assert_eq!(version(&header(9, 0)), None);
    }

    #[test]
    fn v2_numbers_stand_for_a_setting_too() {
        // AMDGPUUsage, "Code Object V2 Supported Processors and Fixed Target Feature Settings"
        let known = [
            ("6:0:2", "gfx602"),
            ("7:0:4", "gfx704"),
            ("8:0:0", "gfx802"),
            ("8:0:1", "gfx801:xnack+"),
            ("8:0:3", "gfx803"),
            ("8:0:4", "gfx803"),
            ("8:1:0", "gfx810:xnack+"),
            ("9:0:0", "gfx900:xnack-"),
            ("9:0:1", "gfx900:xnack+"),
            ("9:0:5", "gfx904:xnack+"),
            ("9:0:6", "gfx906:sramecc-:xnack-"),
            ("9:0:7", "gfx906:sramecc-:xnack+"),
            ("9:0:12", "gfx90c:xnack-"),
        ];
        for (version, expected) in known {
            let numbers: Vec<u32> = version.split(':').map(|n| n.parse().unwrap()).collect();
            let target = Target::from_isa_version(numbers.try_into().unwrap()).unwrap();
            assert_eq!(target.to_string(), expected, "{version}");
        }
        let of_name = |name| Target::from_isa_name(name).map(|t| t.to_string());
        let expected = Some("gfx900:xnack+".to_owned());
        assert_eq!(of_name("amdgcn-amd-amdhsa--gfx901"), expected);
        assert_eq!(of_name("gfx"), None);
        assert_eq!(of_name("gfxé"), None);
        assert_eq!(of_name(""), None);
    }
}

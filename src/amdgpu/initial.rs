//! The registers that are set up before a kernel starts.

use serde::Serialize;

use super::{Processor, tables};

/// Scalar registers that a bit of the descriptor asks for: a row of [`tables::INITIAL_SGPRS`].
#[derive(Debug)]
pub struct Sgpr {
    /// The bit: of kernel_code_properties, from 32 on of COMPUTE_PGM_RSRC2.
    pub bit: u32,
    /// How many registers.
    pub count: u32,
    /// What they hold.
    pub name: &'static str,
    /// What that is.
    pub note: &'static str,
    /// Whether they are the same for all waves of a dispatch.
    pub is_user: bool,
    /// `absolute` where they are there only if the hardware does not set up scratch itself.
    pub scratch: &'static str,
    /// `V2` where only that version of the code object has them.
    pub version: &'static str,
    /// Where the value is instead from gfx12 on.
    pub gfx12: &'static str,
}

/// Registers with what they hold when a kernel starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    target_arch = "wasm32",
    derive(tsify::Tsify),
    tsify(missing_as_null, hashmap_as_object)
)]
pub struct InitialRegister {
    /// The registers as assembly has them: `s[0:1]`, `s8`, `ttmp9`, `v0[9:0]`.
    pub registers: String,
    /// What they hold.
    pub name: &'static str,
    /// What that is.
    pub note: &'static str,
    /// Whether they are user SGPRs, which are the same for all waves of a dispatch.
    pub is_user: bool,
    /// The lowest bit of the descriptor that asks for them, counted from that of its first byte.
    pub bit: u32,
}

/// Where descriptors of all versions have COMPUTE_PGM_RSRC2, kernel_code_properties and kernarg_preload.
const RSRC2: u32 = 52 * 8;
const PROPERTIES: u32 = 56 * 8;
const PRELOAD: u32 = 58 * 8;

impl Sgpr {
    /// The bit of the descriptor.
    fn bit(&self) -> u32 {
        match self.bit {
            0..32 => PROPERTIES + self.bit,
            _ => RSRC2 + self.bit - 32,
        }
    }
}

/// What the descriptor's words say of the registers that a kernel starts with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Initial {
    /// The registers in order: user SGPRs, system SGPRs, work-item IDs.
    pub registers: Vec<InitialRegister>,
    /// User SGPRs that are asked for bit by bit.
    pub enabled: u32,
    /// System SGPRs.
    pub system: u32,
    /// USER_SGPR_COUNT: where the system SGPRs begin.
    pub count: u32,
}

/// The words that [`Initial::decode`] reads.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// kernel_code_properties.
    pub properties: u32,
    /// COMPUTE_PGM_RSRC2.
    pub rsrc2: u32,
    /// kernarg_preload; 0 where there is none.
    pub preload: u32,
    /// Whether they are those of an `amd_kernel_code_t`.
    pub is_v2: bool,
}

impl Initial {
    /// Lists them for a kernel of `processor` (AMDGPUUsage of LLVM 22, Initial Kernel Execution State).
    pub fn decode(processor: &Processor, words: Words) -> Self {
        let is_set = |bit: u32| match bit {
            0..32 => words.properties >> bit & 1 != 0,
            _ => words.rsrc2 >> (bit - 32) & 1 != 0,
        };
        let applies = |row: &&Sgpr| {
            is_set(row.bit)
                && (row.scratch.is_empty() || !processor.architected_flat_scratch)
                && (row.version.is_empty() || words.is_v2)
        };
        let count_mask = if processor.descriptor == "gfx125" {
            63
        } else {
            31
        };
        let mut initial = Self {
            count: words.rsrc2 >> 1 & count_mask,
            ..Self::default()
        };
        let mut next = 0;
        let mut rows = tables::INITIAL_SGPRS.iter().filter(applies).peekable();
        while let Some(row) = rows.next_if(|row| row.is_user) {
            initial.push(&mut next, row.count, row.name, row.note, true, row.bit());
        }
        if processor.kernarg_preload && words.preload & 127 != 0 {
            let note = "words of the kernarg segment";
            initial.push(
                &mut next,
                words.preload & 127,
                "preloaded arguments",
                note,
                true,
                PRELOAD,
            );
        }
        initial.enabled = next;
        if let Some(rest @ 1..) = initial.count.checked_sub(next) {
            let note = "counted, but not set up";
            initial.push(&mut next, rest, "nothing", note, true, RSRC2 + 1);
        }
        // What is asked for beyond the count is not set up.
        next = initial.count;
        for row in rows {
            if processor.generation == "gfx12" && !row.gfx12.is_empty() {
                initial.registers.push(InitialRegister {
                    registers: row.gfx12.into(),
                    name: row.name,
                    note: row.note,
                    is_user: false,
                    bit: row.bit(),
                });
            } else {
                initial.push(&mut next, row.count, row.name, row.note, false, row.bit());
                initial.system += row.count;
            }
        }
        initial.push_work_item_ids(processor, words.rsrc2 >> 11 & 3);
        initial
    }

    fn push(
        &mut self,
        next: &mut u32,
        count: u32,
        name: &'static str,
        note: &'static str,
        is_user: bool,
        bit: u32,
    ) {
        let registers = match count {
            1 => format!("s{next}"),
            _ => format!("s[{next}:{}]", *next + count - 1),
        };
        self.registers.push(InitialRegister {
            registers,
            name,
            note,
            is_user,
            bit,
        });
        *next += count;
    }

    fn push_work_item_ids(&mut self, processor: &Processor, most: u32) {
        let registers = match processor.packed_work_item_ids {
            true => ["v0[9:0]", "v0[19:10]", "v0[29:20]"],
            false => ["v0", "v1", "v2"],
        };
        let names = ["work-item ID x", "work-item ID y", "work-item ID z"];
        for (registers, name) in registers.into_iter().zip(names).take(most as usize + 1) {
            self.registers.push(InitialRegister {
                registers: registers.into(),
                name,
                note: "in the workgroup",
                is_user: false,
                bit: RSRC2 + 11,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registers(processor: &str, words: Words) -> Vec<(String, &'static str)> {
        let processor = Processor::named(processor).unwrap();
        let initial = Initial::decode(processor, words);
        let rows = initial.registers.into_iter();
        rows.map(|row| (row.registers, row.name)).collect()
    }

    #[test]
    fn registers_are_where_clang_reads_them() {
        // llc 22 of a kernel that reads the workgroup's IDs x and y asks for pointer of dispatch, queue and
        // arguments, dispatch ID, and IDs x, y and z. It reads the arguments' address from s[4:5], and the IDs
        // from s8 and s9 for gfx942, from s13 and s14 (USER_SGPR_COUNT 13) for gfx1100, from ttmp9 and ttmp7
        // for gfx1200 and gfx1250.
        for (processor, count, x, y) in [
            ("gfx942", 8, "s8", "s9"),
            ("gfx1100", 13, "s13", "s14"),
            ("gfx1200", 8, "ttmp9", "ttmp7[15:0]"),
            ("gfx1250", 8, "ttmp9", "ttmp7[15:0]"),
        ] {
            let words = Words {
                properties: 0b1_1110,
                rsrc2: count << 1 | 7 << 7,
                preload: 0,
                is_v2: false,
            };
            let found = registers(processor, words);
            let of = |name: &str| &found.iter().find(|(_, n)| *n == name).unwrap().0;
            assert_eq!(of("kernarg segment pointer"), "s[4:5]", "{processor}");
            assert_eq!(of("workgroup ID x"), x, "{processor}");
            assert_eq!(of("workgroup ID y"), y, "{processor}");
        }
    }

    #[test]
    fn all_registers_stand_in_their_order() {
        // AMDGPUUsage, SGPR Register Set Up Order: 4 + 2 + 2 + 2 + 2 + 2 + 1 user SGPRs, then the system's.
        let words = Words {
            properties: 0x7f,
            rsrc2: 15 << 1 | 1 | 15 << 7 | 2 << 11,
            preload: 0,
            is_v2: false,
        };
        let expected = [
            ("s[0:3]", "private segment buffer"),
            ("s[4:5]", "dispatch pointer"),
            ("s[6:7]", "queue pointer"),
            ("s[8:9]", "kernarg segment pointer"),
            ("s[10:11]", "dispatch ID"),
            ("s[12:13]", "flat scratch init"),
            ("s14", "private segment size"),
            ("s15", "workgroup ID x"),
            ("s16", "workgroup ID y"),
            ("s17", "workgroup ID z"),
            ("s18", "workgroup info"),
            ("s19", "scratch wave offset"),
            ("v0", "work-item ID x"),
            ("v1", "work-item ID y"),
            ("v2", "work-item ID z"),
        ];
        let expected = expected.map(|(registers, name)| (registers.to_owned(), name));
        assert_eq!(registers("gfx906", words), expected);
        // AMDHSAKernelDescriptor.h: kernel_code_properties at 56, its bit 3 ENABLE_SGPR_KERNARG_SEGMENT_PTR;
        // compute_pgm_rsrc2 at 52, its bit 8 ENABLE_SGPR_WORKGROUP_ID_Y, its bits 11 and 12
        // ENABLE_VGPR_WORKITEM_ID.
        let initial = Initial::decode(Processor::named("gfx906").unwrap(), words);
        let bits = [3, 8, 12].map(|row| initial.registers[row].bit);
        assert_eq!(bits, [56 * 8 + 3, 52 * 8 + 8, 52 * 8 + 11]);
    }

    #[test]
    fn preloaded_arguments_stand_behind_the_pointers() {
        // preload.gfx942.v5.co: kernarg pointer and 6 words of arguments make USER_SGPR_COUNT 8.
        let words = Words {
            properties: 8,
            rsrc2: 8 << 1 | 1 << 7,
            preload: 6,
            is_v2: false,
        };
        let found = registers("gfx942", words);
        assert_eq!(found[1], ("s[2:7]".to_owned(), "preloaded arguments"));
        assert_eq!(found[2], ("s8".to_owned(), "workgroup ID x"));
        assert_eq!(found[3], ("v0[9:0]".to_owned(), "work-item ID x"));
    }

    #[test]
    fn a_count_of_its_own_says_where_the_system_begins() {
        let gfx906 = Processor::named("gfx906").unwrap();
        let few = Words {
            properties: 0x9,
            rsrc2: 4 << 1 | 1 << 7,
            preload: 0,
            is_v2: false,
        };
        let initial = Initial::decode(gfx906, few);
        assert_eq!((initial.enabled, initial.count), (6, 4));
        assert_eq!(initial.registers[2].registers, "s4");
        let many = Initial::decode(
            gfx906,
            Words {
                rsrc2: 15 << 1,
                ..few
            },
        );
        assert_eq!(many.registers[2].registers, "s[6:14]");
        assert_eq!(many.registers[2].name, "nothing");
    }
}

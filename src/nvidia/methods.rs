//! Methods: what the words of a pushbuffer set in the engines that they are sent to.
//!
//! Every engine has classes, one a generation, which differ little from the one before; the table (`tables/nvidia/methods.txt`)
//! has each method once, with the classes that have it in that form. It is taken apart at first use, a class's addresses when
//! the class is first asked for.

use std::sync::{LazyLock, OnceLock};

/// What runs methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The host, which feeds the others: methods below 0x100, on any subchannel.
    Host,
    /// Compute.
    Compute,
    /// Copies.
    Copy,
}

impl Engine {
    /// That of classes of this number, by its last byte; `None` for engines whose methods are not known.
    pub fn of(class: u16) -> Option<Self> {
        match class & 0xff {
            0x6f => Some(Self::Host),
            0xc0 => Some(Self::Compute),
            0xb5 => Some(Self::Copy),
            _ => None,
        }
    }
}

/// A class whose methods are known.
#[derive(Debug)]
pub struct Class {
    /// Its number: 0xc6c0.
    pub number: u16,
    /// Its name: `AMPERE_COMPUTE_A`.
    pub name: &'static str,
    /// Of a compute or copy class the host that channels of such GPUs have; of a host the class that has the methods that its
    /// own header leaves out.
    other: Option<u16>,
    /// For each address the index of its method and one, 0 where there is none.
    addresses: OnceLock<Vec<u16>>,
}

/// A method, or an array of them.
#[derive(Clone, Debug)]
pub struct Method {
    /// Its name: `SET_INLINE_QMD_ADDRESS_A`.
    pub name: &'static str,
    /// The classes that have it, first and last.
    classes: (u16, u16),
    /// The offset of the first.
    offset: u16,
    /// How many there are.
    pub count: u16,
    /// Bytes from one to the next.
    stride: u16,
    /// The half of a value of 64 bits that it is.
    pub half: Option<Half>,
    fields: &'static str,
}

/// A half of a value of 64 bits that two methods set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Half {
    /// Whether it is the upper one.
    pub is_high: bool,
    /// From its address to the other's, in bytes.
    pub other: i32,
}

/// A field of a method's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodField {
    /// Its name.
    pub name: &'static str,
    /// Its highest bit.
    pub msb: u32,
    /// Its lowest bit.
    pub lsb: u32,
    names: &'static str,
}

/// Bytes of methods that every engine's table is for: 4096 words.
const SPACE: u32 = 0x4000;

struct Tables {
    classes: Vec<Class>,
    methods: Vec<Method>,
}

static TABLES: LazyLock<Tables> =
    LazyLock::new(|| Tables::read(include_str!("../../tables/nvidia/methods.txt")));

impl Tables {
    fn read(text: &'static str) -> Self {
        let (mut classes, mut methods) = (Vec::new(), Vec::<Method>::new());
        let mut rest = text;
        while let Some((line, behind)) = rest.split_once('\n') {
            rest = behind;
            let mut words = line.split(' ');
            match words.next().unwrap_or_default() {
                "" | "#" => {}
                "class" => classes.push(Class {
                    number: words.next().and_then(hexadecimal).unwrap_or(0),
                    name: words.next().unwrap_or_default(),
                    other: words.next().and_then(hexadecimal),
                    addresses: OnceLock::new(),
                }),
                offset => {
                    let (first, last) = pair(words.next().unwrap_or_default(), '-');
                    let mut method = Method {
                        name: words.next().unwrap_or_default(),
                        classes: (
                            hexadecimal(first).unwrap_or(0),
                            hexadecimal(last).unwrap_or(0),
                        ),
                        offset: hexadecimal(offset).unwrap_or(0),
                        count: 1,
                        stride: 4,
                        half: None,
                        fields: "",
                    };
                    for word in words {
                        match word.find(['+', '-']) {
                            Some(at) => {
                                method.half = Some(Half {
                                    is_high: word.starts_with("high"),
                                    other: word[at..].parse().unwrap_or(0),
                                });
                            }
                            None => {
                                let (count, stride) = word.split_once('*').unwrap_or((word, "4"));
                                method.count = count.parse().unwrap_or(1);
                                method.stride = stride.parse().unwrap_or(4);
                            }
                        }
                    }
                    // The lines behind it that begin with a tab.
                    let lines = rest.split_inclusive('\n');
                    let fields = lines.take_while(|line| line.starts_with('\t'));
                    let size = fields.map(str::len).sum();
                    (method.fields, rest) = rest.split_at(size);
                    methods.push(method);
                }
            }
        }
        Self { classes, methods }
    }
}

fn hexadecimal(text: &str) -> Option<u16> {
    u16::from_str_radix(text, 16).ok()
}

/// What is before and behind `between`; the same twice where it is not there.
fn pair(text: &str, between: char) -> (&str, &str) {
    text.split_once(between).unwrap_or((text, text))
}

impl Class {
    /// All classes whose methods are known: hosts, compute, copy, each by number.
    pub fn all() -> &'static [Self] {
        &TABLES.classes
    }

    /// The class of that number.
    pub fn get(number: u16) -> Option<&'static Self> {
        TABLES.classes.iter().find(|class| class.number == number)
    }

    /// What runs its methods.
    pub fn engine(&self) -> Engine {
        Engine::of(self.number).unwrap_or(Engine::Host)
    }

    /// The host that channels of such GPUs have; for a host itself.
    pub fn host(&self) -> &Self {
        match (self.engine(), self.other.and_then(Self::get)) {
            (Engine::Compute | Engine::Copy, Some(host)) => host,
            _ => self,
        }
    }

    /// The method at `address`, in bytes, and which of its array that is.
    pub fn method(&self, address: u32) -> Option<(&'static Method, u32)> {
        let addresses = self.addresses.get_or_init(|| {
            let mut addresses = vec![0; (SPACE / 4) as usize];
            let engine = Some(self.engine());
            for (method, number) in TABLES.methods.iter().zip(1..) {
                let (first, last) = method.classes;
                if Engine::of(first) != engine || !(first..=last).contains(&self.number) {
                    continue;
                }
                for i in 0..u32::from(method.count) {
                    let at = (u32::from(method.offset) + i * u32::from(method.stride)) / 4;
                    if let Some(slot) = addresses.get_mut(at as usize) {
                        *slot = number;
                    }
                }
            }
            addresses
        });
        let number = *addresses.get((address / 4) as usize)?;
        match usize::from(number).checked_sub(1) {
            Some(index) => {
                let method = TABLES.methods.get(index)?;
                let behind = address.checked_sub(method.offset.into())?;
                Some((method, behind / u32::from(method.stride).max(1)))
            }
            None if self.engine() == Engine::Host => Self::get(self.other?)?.method(address),
            None => None,
        }
    }
}

impl Method {
    /// Its name, with the number behind it of one of an array: `LOAD_INLINE_QMD_DATA(3)`.
    pub fn label(&self, index: u32) -> String {
        if self.count > 1 {
            format!("{}({index})", self.name)
        } else {
            self.name.into()
        }
    }

    /// The fields of its word. Some share bits: which of them counts, another one says.
    pub fn fields(&self) -> impl Iterator<Item = MethodField> {
        self.fields.lines().map(|line| {
            let mut words = line.trim_start().splitn(3, ' ');
            let name = words.next().unwrap_or_default();
            let (msb, lsb) = pair(words.next().unwrap_or_default(), ':');
            MethodField {
                name,
                msb: msb.parse().unwrap_or(0).min(31),
                lsb: lsb.parse().unwrap_or(0).min(31),
                names: words.next().unwrap_or_default(),
            }
        })
    }

    /// What a word has of the half that it is: the bits of the first field, where they are.
    pub fn part(&self, word: u32) -> u64 {
        let field = self.fields().next();
        field
            .map_or(word, |field| field.get(word) << field.lsb)
            .into()
    }

    /// By how many bits the value is shifted, if its name says so: 8 of `QMD_ADDRESS_SHIFTED8`.
    pub fn shift(&self) -> u32 {
        let field = self.fields().next();
        let digits = field.and_then(|field| Some(field.name.split_once("SHIFTED")?.1));
        let digits = digits.map(|text| text.split('_').next().unwrap_or_default());
        digits.and_then(|text| text.parse().ok()).unwrap_or(0)
    }
}

impl MethodField {
    /// Its bits of `word`.
    pub fn get(&self, word: u32) -> u32 {
        let width = (self.msb + 1).saturating_sub(self.lsb).clamp(1, 32);
        word >> self.lsb & (u32::MAX >> (32 - width))
    }

    /// Whether its values have names.
    pub fn is_named(&self) -> bool {
        !self.names.is_empty()
    }

    /// The names of its values with these.
    pub fn names(&self) -> impl Iterator<Item = (u32, &'static str)> {
        let mut next = 0;
        let words = self.names.split(' ').filter(|word| !word.is_empty());
        words.map(move |word| {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let value = match value.strip_prefix("0x") {
                Some(digits) => u32::from_str_radix(digits, 16).unwrap_or(next),
                None => value.parse().unwrap_or(next),
            };
            next = value.wrapping_add(1);
            (value, name)
        })
    }

    /// The names of `value`; nothing where it has none.
    pub fn name(&self, value: u32) -> String {
        let names = self.names().filter(|named| named.0 == value);
        let names: Vec<_> = names.map(|named| named.1).collect();
        names.join(" or ")
    }
}

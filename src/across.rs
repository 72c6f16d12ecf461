//! The kernels of all members by their names, with what each needs on each architecture, and which PTX they are in.

use std::borrow::Cow;

use crate::members::natural;
use crate::order;
use crate::rows::{Cell, Column, Table, Unit, column, hidden};
use crate::span::Span;
use crate::survey::{InArch, NUMBERS, Survey};

/// Names of kernels, a row each; architectures have columns of their own, `sm_90.registers`, and so has what there is PTX for,
/// `compute_90.ptx`.
pub struct AcrossList<'a> {
    survey: &'a Survey,
    columns: Vec<Column>,
    /// Where only some names are listed, these.
    only: Option<Vec<u32>>,
}

/// What a name has in all architectures together.
const SUMS: &[Column] = &[
    column("name", "Name", Unit::Text),
    column("arch_count", "Architectures", Unit::Number),
    column("most_registers", "Most registers", Unit::Number),
    column("most_stack", "Most stack", Unit::Size),
    column("most_spills", "Most spills", Unit::Number),
    hidden("most_shared", "Most shared", Unit::Size),
    hidden("copies", "Copies", Unit::Number),
    hidden("row", "Row", Unit::Number),
];

/// Numbers that only kernels of one vendor have.
const OF_AMD: [&str; 4] = ["sgprs", "agprs", "vgpr_spills", "sgpr_spills"];
const OF_NVIDIA: [&str; 1] = ["code_bytes"];

impl<'a> AcrossList<'a> {
    /// The kernels that `survey` has found.
    pub fn new(survey: &'a Survey) -> Self {
        let mut columns = SUMS.to_vec();
        for arch in in_order(survey.archs()) {
            let others: &[&str] = match arch.starts_with("sm_") {
                true => &OF_AMD,
                false => &OF_NVIDIA,
            };
            for (key, title, _) in NUMBERS.iter().filter(|(key, ..)| !others.contains(key)) {
                let is_first = *key == "registers";
                let unit = match key.ends_with("_bytes") {
                    true => Unit::Size,
                    false => Unit::Number,
                };
                let title = if is_first { "" } else { title };
                columns.push(Column {
                    key: Cow::Owned([arch, ".", key].concat()),
                    title: Cow::Owned([arch, " ", title].concat().trim_end().into()),
                    unit,
                    is_shown: is_first,
                });
            }
        }
        for target in in_order(survey.text_targets()) {
            columns.push(Column {
                key: Cow::Owned([target, TEXT].concat()),
                title: Cow::Owned(target.into()),
                unit: Unit::Word,
                is_shown: true,
            });
        }
        Self {
            survey,
            columns,
            only: None,
        }
    }

    /// The `most` names with the most registers, these first.
    pub fn first(survey: &'a Survey, most: usize) -> Self {
        let mut all = Self::new(survey);
        let mut first: Vec<(u32, u32)> = Vec::new();
        for name in 0..all.len() {
            let registers = all.most(name, "registers").unwrap_or(0);
            let at = first.partition_point(|(known, _)| *known >= registers);
            if at < most {
                first.insert(at, (registers, name as u32));
                first.truncate(most);
            }
        }
        all.only = Some(first.into_iter().map(|(_, name)| name).collect());
        all
    }

    fn name(&self, row: u64) -> Option<u64> {
        match &self.only {
            None => Some(row),
            Some(names) => names.get(row as usize).map(|&name| name.into()),
        }
    }

    fn most(&self, name: u64, key: &str) -> Option<u32> {
        let kernels = self.survey.of_name(name);
        kernels.filter_map(|of| of.number(key)).max()
    }

    /// What a column of an architecture is of, and which number it has.
    fn in_arch<'k>(&self, name: u64, key: &'k str) -> Option<(&InArch, &'k str)> {
        let (target, number) = key.rsplit_once('.')?;
        let mut archs = self.survey.archs().iter();
        let arch = archs.position(|known| **known == *target)? as u32;
        let found = self.survey.of_name(name).find(|of| of.arch == arch)?;
        Some((found, number))
    }

    /// What a column of PTX is for, by its number.
    fn text(&self, key: &str) -> Option<usize> {
        let target = key.strip_suffix(TEXT)?;
        let mut targets = self.survey.text_targets().iter();
        targets.position(|known| **known == *target)
    }

    /// Where the kernel is that a cell is about: its member, and its row in the member's kernels, which a PTX text does not have. Of several the
    /// first; of a column of no architecture the first of all, in machine code if it is there.
    pub fn kernel(&self, row: u64, key: &str) -> Option<(u32, Option<u32>)> {
        let name = self.name(row)?;
        let survey = self.survey;
        let text = self.text(key);
        let machine = match self.in_arch(name, key) {
            None if text.is_none() => survey.of_name(name).next(),
            found => found.map(|(found, _)| found),
        };
        match machine {
            Some(found) => survey
                .place_of(found.first)
                .map(|(member, row)| (member, Some(row))),
            None => survey.text_with(name, text).map(|member| (member, None)),
        }
    }
}

/// What the keys of columns of PTX end with.
const TEXT: &str = ".ptx";

/// Architectures, `sm_90` before `sm_100`.
fn in_order(archs: &[Box<str>]) -> Vec<&str> {
    let mut order: Vec<&str> = archs.iter().map(|arch| &**arch).collect();
    order::arrange_by(&mut order, |a, b| natural(a).cmp(&natural(b)));
    order
}

impl Table for AcrossList<'_> {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> u64 {
        match &self.only {
            None => self.survey.kernel_names().len() as u64,
            Some(names) => names.len() as u64,
        }
    }

    fn cell(&self, row: u64, key: &str) -> Cell<'_> {
        let Some(name) = self.name(row) else {
            return Cell::None;
        };
        let survey = self.survey;
        match key {
            "name" => survey.kernel_name(name).into(),
            "arch_count" => (survey.of_name(name).count() as u64).into(),
            "copies" => survey
                .of_name(name)
                .map(|of| u64::from(of.count))
                .sum::<u64>()
                .into(),
            "most_registers" => self.most(name, "registers").into(),
            "most_stack" => self.most(name, "stack_bytes").into(),
            "most_shared" => self.most(name, "shared_bytes").into(),
            "most_spills" => self
                .most(name, "vgpr_spills")
                .max(self.most(name, "sgpr_spills"))
                .into(),
            "row" => name.into(),
            key => match (self.in_arch(name, key), self.text(key)) {
                (Some((found, number)), _) => found.number(number).into(),
                (_, Some(text)) => survey.is_in_text(name, text).then_some("PTX").into(),
                _ => Cell::None,
            },
        }
    }

    fn place(&self, _: u64) -> Option<Span> {
        None
    }
}

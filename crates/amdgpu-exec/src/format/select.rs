//! DST_SEL: which channel of an element goes to which component of the register operand.

use super::Format;

/// Four selectors of a descriptor, X first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Select([u8; 4]);

impl Select {
    /// From the low 12 bits of a descriptor's word 3: 0 zero, 1 one, 4..=7 X, Y, Z, W.
    pub(crate) fn from_word(word: u32) -> Self {
        let mut selectors = [0; 4];
        for (index, selector) in (0u32..).zip(&mut selectors) {
            *selector = (word >> (3 * index) & 7).to_le_bytes()[0];
        }
        Self(selectors)
    }

    /// Components from channels.
    pub(crate) fn load(self, format: Format, channels: [u32; 4]) -> [u32; 4] {
        let mut components = [0; 4];
        for (component, selector) in components.iter_mut().zip(self.0) {
            *component = match selector {
                1 => format.one(),
                4..=7 => channels[usize::from(selector & 3)],
                _ => 0,
            };
        }
        components
    }

    /// Components as they are, but for those that are constant.
    pub(crate) fn constants(self, format: Format, mut components: [u32; 4]) -> [u32; 4] {
        for (component, selector) in components.iter_mut().zip(self.0) {
            match selector {
                1 => *component = format.one(),
                4..=7 => {}
                _ => *component = 0,
            }
        }
        components
    }

    /// Channels from components: each comes from the first component that selects it.
    pub(crate) fn store(self, components: [u32; 4]) -> [u32; 4] {
        let mut channels = [0; 4];
        for (component, selector) in components.into_iter().zip(self.0).rev() {
            if selector >= 4 {
                channels[usize::from(selector & 3)] = component;
            }
        }
        channels
    }
}

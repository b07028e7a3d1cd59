//! Random well-typed functions of the subset, as Rust text.
//!
//! The results of what Rust leaves undefined are hidden: the bits of a NaN, and which zero
//! `0.0.min(-0.0)` returns.

use std::fmt::Write;

/// The scalar types, each with the parameter that every function has of it.
pub const TYPES: [(Ty, &str); 6] = [
    (Ty::U32, "a"),
    (Ty::I32, "b"),
    (Ty::U64, "c"),
    (Ty::I64, "d"),
    (Ty::F32, "e"),
    (Ty::Bool, "g"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    U32,
    I32,
    U64,
    I64,
    F32,
    Bool,
}

use Ty::{Bool, F32, I32, I64, U32, U64};

impl Ty {
    pub fn name(self) -> &'static str {
        ["u32", "i32", "u64", "i64", "f32", "bool"][self as usize]
    }

    fn is_integer(self) -> bool {
        !matches!(self, F32 | Bool)
    }

    fn is_signed(self) -> bool {
        matches!(self, I32 | I64)
    }

    fn bits(self) -> u64 {
        if matches!(self, U64 | I64) { 64 } else { 32 }
    }
}

/// SplitMix64 (Steele, Lea, Flood, 2014).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

#[derive(Clone)]
struct Variable {
    name: String,
    ty: Ty,
    mutable: bool,
    /// Whether the type is known at the declaration, as methods require.
    known: bool,
}

/// A generator of functions; later functions call earlier ones.
pub struct Generator {
    random: Random,
    variables: Vec<Variable>,
    made: Vec<Ty>,
    names: usize,
    loops: usize,
}

/// The largest nesting depth of expressions.
const DEPTH: u32 = 4;

impl Generator {
    pub fn new(seed: u64) -> Generator {
        Generator {
            random: Random(seed),
            variables: Vec::new(),
            made: Vec::new(),
            names: 0,
            loops: 0,
        }
    }

    /// Returns the next function, `f0`, `f1`, …, and its result type.
    pub fn function(&mut self) -> (String, Ty) {
        let number = self.made.len();
        let result = self.random.pick(&TYPES).0;
        self.variables = TYPES
            .iter()
            .map(|&(ty, name)| Variable { name: name.into(), ty, mutable: false, known: true })
            .collect();
        self.names = 0;
        let arguments: Vec<_> =
            TYPES.iter().map(|(ty, name)| format!("{name}: {}", ty.name())).collect();
        let mut text = String::new();
        write!(text, "fn f{number}(&self, {}) -> {} ", arguments.join(", "), result.name())
            .unwrap();
        let steps = 1 + self.random.below(5);
        text.push_str(&self.block(steps, Some(result), result));
        text.push('\n');
        self.made.push(result);
        (text, result)
    }

    fn block(&mut self, steps: u64, value: Option<Ty>, result: Ty) -> String {
        let outside = self.variables.len();
        let mut text = String::from("{\n");
        for _ in 0..steps {
            text.push_str(&self.statement(result));
            text.push('\n');
        }
        if let Some(ty) = value {
            text.push_str(&self.expression(ty, DEPTH, false));
        }
        self.variables.truncate(outside);
        text.push_str("\n}");
        text
    }

    fn statement(&mut self, result: Ty) -> String {
        match self.random.below(12) {
            0..=3 => self.bind(),
            4..=6 => self.assign().unwrap_or_else(|| self.bind()),
            7 => {
                let condition = self.expression(Bool, 2, false);
                let (then, otherwise) = (self.block(2, None, result), self.block(1, None, result));
                match self.random.below(3) {
                    0 => format!("if {condition} {then}"),
                    _ => format!("if {condition} {then} else {otherwise}"),
                }
            }
            8 => self.turns(result),
            9 => self.count(result),
            10 => self.choice_of_blocks(result),
            _ => {
                let condition = self.expression(Bool, 2, false);
                let value = self.expression(result, 2, false);
                let leave = match (self.loops, self.random.below(3)) {
                    (1.., 0) => "break".to_owned(),
                    (1.., 1) => "continue".to_owned(),
                    _ => format!("return {value}"),
                };
                format!("if {condition} {{ {leave}; }}")
            }
        }
    }

    fn fresh(&mut self) -> String {
        self.names += 1;
        // Sometimes a name in use: shadowing.
        if self.random.one_in(6) { "x".into() } else { format!("x{}", self.names) }
    }

    fn bind(&mut self) -> String {
        let ty = self.random.pick(&TYPES).0;
        let mutable = self.random.one_in(2);
        // An unsuffixed literal, whose type follows from a later use.
        if ty.is_integer() && self.random.one_in(4) {
            let name = self.fresh();
            let literal = self.random.below(1000);
            let user = self.known(ty);
            self.begin(&name, ty, mutable, false);
            let mutable = if mutable { "mut " } else { "" };
            return format!("let {mutable}{name} = {literal}; let _ = {name} == {user};");
        }
        let typed = self.random.one_in(2);
        let value = self.expression(ty, DEPTH, !typed);
        let name = self.fresh();
        let annotation = if typed { format!(": {}", ty.name()) } else { String::new() };
        self.begin(&name, ty, mutable, true);
        format!("let {}{name}{annotation} = {value};", if mutable { "mut " } else { "" })
    }

    fn begin(&mut self, name: &str, ty: Ty, mutable: bool, known: bool) {
        self.variables.push(Variable { name: name.into(), ty, mutable, known });
    }

    /// Returns the variables that are not shadowed.
    fn visible(&self) -> Vec<Variable> {
        let is_last = |place: usize, name: &str| {
            !self.variables[place + 1..].iter().any(|later| later.name == name)
        };
        let variables = self.variables.iter().enumerate();
        variables.filter(|(place, v)| is_last(*place, &v.name)).map(|(_, v)| v.clone()).collect()
    }

    fn known(&mut self, ty: Ty) -> String {
        let fits: Vec<_> = self.visible().into_iter().filter(|v| v.ty == ty && v.known).collect();
        match fits.is_empty() {
            true => format!("self.p{}", ty as usize),
            false => fits[self.random.below(fits.len() as u64) as usize].name.clone(),
        }
    }

    fn assign(&mut self) -> Option<String> {
        let targets: Vec<_> = self.visible().into_iter().filter(|v| v.mutable).collect();
        if targets.is_empty() {
            return None;
        }
        let target = targets[self.random.below(targets.len() as u64) as usize].clone();
        let operator = match target.ty {
            F32 => self.random.pick(&["", "+", "-", "*", "/"]),
            Bool => self.random.pick(&["", "&", "|", "^"]),
            _ => self.random.pick(&["", "+", "-", "*", "&", "|", "^", "<<", ">>"]),
        };
        let value = match operator {
            "<<" | ">>" => self.amount(2),
            _ => self.expression(target.ty, 3, false),
        };
        Some(format!("{} {operator}= {value};", target.name))
    }

    fn turns(&mut self, result: Ty) -> String {
        let (ty, name) = (self.random.pick(&[U32, I32]), self.fresh());
        let (first, end): (String, String) = match (ty, self.random.below(4)) {
            (U32, 0) => ("4294967293".into(), "4294967295_u32".into()),
            (I32, 0) => ("2147483645_i32".into(), "2147483647".into()),
            (U32, _) => (format!("{}", self.random.below(3)), "(self.p0 % 7)".into()),
            _ => (format!("-{}", self.random.below(3)), "(self.p1 % 5)".into()),
        };
        let dots = self.random.pick(&["..", "..="]);
        let outside = self.variables.len();
        self.begin(&name, ty, false, true);
        self.loops += 1;
        let body = self.block(2, None, result);
        self.loops -= 1;
        self.variables.truncate(outside);
        format!("for {name} in {first}{dots}{end} {body}")
    }

    /// Returns a `while` loop that counts.
    fn count(&mut self, result: Ty) -> String {
        self.names += 1;
        let name = format!("n{}", self.names);
        let (start, condition, step) = match self.random.below(4) {
            0 => ("0_u32".to_owned(), format!("{name} < 4"), format!("{name} += 1")),
            1 => ("3_i64".to_owned(), format!("{name} > -2"), format!("{name} -= 1")),
            2 => (self.known(U32), format!("{name} != 0"), format!("{name} >>= 5")),
            _ => (self.known(U64), format!("0 < {name}"), format!("{name} /= 1000")),
        };
        let more = self.expression(Bool, 2, false);
        let outside = self.variables.len();
        self.loops += 1;
        let body = self.block(2, None, result);
        self.loops -= 1;
        self.variables.truncate(outside);
        // The step precedes every possible `continue`.
        format!("let mut {name} = {start}; while {condition} && {more} {{ {step}; {body} }}")
    }

    fn choice_of_blocks(&mut self, result: Ty) -> String {
        let on = self.expression(U32, 2, true);
        let blocks = [(); 3].map(|()| self.block(1, None, result));
        let [a, b, c] = blocks;
        format!("match {on} {{ 0 | 7 => {a} 1..=6 | 100..1000 => {b} _ => {c} }}")
    }

    /// Returns an expression of a type. With `known`, its type does not depend on its context.
    fn expression(&mut self, ty: Ty, depth: u32, known: bool) -> String {
        if depth == 0 || self.random.one_in(6) {
            return self.leaf(ty, known);
        }
        let depth = depth - 1;
        match self.random.below(12) {
            0 => self.leaf(ty, known),
            1 => {
                let condition = self.expression(Bool, depth, false);
                let (a, b) = (self.expression(ty, depth, known), self.expression(ty, depth, known));
                format!("(if {condition} {{ {a} }} else {{ {b} }})")
            }
            2 if !known => {
                // A block that changes a value used to its left.
                let set = self.assign().unwrap_or_default();
                let value = self.expression(ty, depth, known);
                format!("({{ {set} {value} }})")
            }
            3 => {
                let on = self.expression(I64, depth, true);
                let arms = [(); 3].map(|()| self.expression(ty, depth.min(1), known));
                let [a, b, c] = arms;
                format!("(match {on} {{ -1 => {a}, i64::MIN..=-2 => {b}, _ => {c} }})")
            }
            4 => self.call(ty, depth),
            5 if ty != Bool => self.cast(ty, depth),
            _ => match ty {
                Bool => self.truth(depth),
                F32 => self.float(depth, known),
                _ => self.integer(ty, depth, known),
            },
        }
    }

    /// Returns a shift amount: never a literal, which would have to be small.
    fn amount(&mut self, depth: u32) -> String {
        format!("({} ^ self.p0)", self.expression(U32, depth, true))
    }

    fn call(&mut self, ty: Ty, depth: u32) -> String {
        let fits: Vec<_> = (0..self.made.len()).filter(|&f| self.made[f] == ty).collect();
        // A call costs as much as its callee, so only early functions are called.
        let Some(&callee) = fits.get(self.random.below(3) as usize) else {
            return self.leaf(ty, true);
        };
        let arguments: Vec<_> =
            TYPES.iter().map(|&(ty, _)| self.expression(ty, depth.min(1), false)).collect();
        format!("self.f{callee}({})", arguments.join(", "))
    }

    fn cast(&mut self, ty: Ty, depth: u32) -> String {
        let from = match ty {
            F32 => self.random.pick(&[U32, I32, U64, I64, F32]),
            _ => self.random.pick(&[U32, I32, U64, I64, F32, Bool]),
        };
        format!("({} as {})", self.expression(from, depth, true), ty.name())
    }

    fn leaf(&mut self, ty: Ty, known: bool) -> String {
        let fits: Vec<_> =
            self.visible().into_iter().filter(|v| v.ty == ty && (v.known || !known)).collect();
        if !fits.is_empty() && !self.random.one_in(3) {
            return fits[self.random.below(fits.len() as u64) as usize].name.clone();
        }
        if self.random.one_in(3) {
            return format!("self.p{}", ty as usize);
        }
        self.literal(ty, known)
    }

    fn literal(&mut self, ty: Ty, known: bool) -> String {
        let suffix = if known { format!("_{}", ty.name()) } else { String::new() };
        match ty {
            Bool => self.random.pick(&["true", "false"]).into(),
            F32 => {
                let number = self.random.pick(&[
                    "0.0",
                    "1.0",
                    "0.5",
                    "1.5",
                    "3e38",
                    "1e-40",
                    "16777216.0",
                    "2147483648.0",
                    "4294967296.0",
                    "0.1",
                    "1.0e-3",
                    "f32::INFINITY",
                    "f32::NAN",
                    "f32::MIN_POSITIVE",
                ]);
                let suffix = if number.starts_with('f') { "" } else { &suffix };
                let minus = if self.random.one_in(3) { "-" } else { "" };
                format!("({minus}{number}{suffix})")
            }
            _ => {
                let edge = self.random.pick(&["MAX", "MIN", "BITS"]);
                if edge != "BITS" && self.random.one_in(4) {
                    return format!("{}::{edge}", ty.name());
                }
                let bits = ty.bits() - u64::from(ty.is_signed());
                let shift = 64 - self.random.below(bits) - 1;
                let number = self.random.next() >> shift;
                let minus = if ty.is_signed() && self.random.one_in(2) { "-" } else { "" };
                format!("({minus}{number}{suffix})")
            }
        }
    }

    fn truth(&mut self, depth: u32) -> String {
        let sides = |this: &mut Self, ty| {
            (this.expression(ty, depth, true), this.expression(ty, depth, false))
        };
        match self.random.below(8) {
            0 => format!("(!{})", self.expression(Bool, depth, false)),
            1 | 2 => {
                let (a, b) = sides(self, Bool);
                format!("({a} {} {b})", self.random.pick(&["&&", "||", "&", "|", "^", "==", "<"]))
            }
            3 => format!("{}.is_nan()", self.expression(F32, depth, true)),
            4 => format!("{}.is_finite()", self.expression(F32, depth, true)),
            5 => {
                let factors = [(); 4].map(|()| self.expression(U64, depth, false));
                format!("products_ge({})", factors.join(", "))
            }
            _ => {
                let ty = self.random.pick(&[U32, I32, U64, I64, F32]);
                let (a, b) = sides(self, ty);
                format!("({a} {} {b})", self.random.pick(&["==", "!=", "<", "<=", ">", ">="]))
            }
        }
    }

    fn float(&mut self, depth: u32, known: bool) -> String {
        let a = self.expression(F32, depth, true);
        let b = self.expression(F32, depth, known);
        match self.random.below(10) {
            0..=3 => format!("({a} {} {b})", self.random.pick(&["+", "-", "*", "/"])),
            4 => format!("(-{a})"),
            // `+ 0.0` makes both zeros equal.
            5 => format!("({a}.{}({b}) + 0.0)", self.random.pick(&["min", "max"])),
            6 => {
                format!(
                    "({{ let t: f32 = {b}; {a}.copysign(if t.is_nan() {{ 1.0 }} else {{ t }}) }})"
                )
            }
            7 => format!("f32::from_bits({})", self.expression(U32, depth, false)),
            8 => match self.random.below(5) {
                0 => format!("powf({a}, {b})"),
                n => format!("{}({a})", ["exp2", "exp", "log2", "ln"][n as usize - 1]),
            },
            _ => format!("{a}.{}()", self.random.pick(&["sqrt", "abs", "floor", "ceil", "trunc"])),
        }
    }

    fn integer(&mut self, ty: Ty, depth: u32, known: bool) -> String {
        let a = self.expression(ty, depth, true);
        let b = self.expression(ty, depth, known);
        match self.random.below(14) {
            0..=2 => {
                format!("({a} {} {b})", self.random.pick(&["+", "-", "*", "&", "|", "^"]))
            }
            3 => {
                let operator = self.random.pick(&["/", "%"]);
                let literal = 2 + self.random.below(100);
                match self.random.below(3) {
                    0 => {
                        let b = self.expression(ty, depth, true);
                        format!("({{ let n = {b}.max({literal}); {a} {operator} n }})")
                    }
                    _ => format!("({a} {operator} {literal})"),
                }
            }
            4 => {
                let operator = self.random.pick(&["<<", ">>"]);
                match self.random.below(2) {
                    0 => format!("({a} {operator} {})", self.random.below(ty.bits())),
                    _ => format!("({a} {operator} {})", self.amount(depth)),
                }
            }
            5 if ty.is_signed() => format!("(-{a})"),
            5 | 6 => format!("(!{a})"),
            7 => self.bits_of(ty, depth),
            8 => {
                let name = self.random.pick(&[
                    "wrapping_add",
                    "wrapping_sub",
                    "wrapping_mul",
                    "saturating_add",
                    "saturating_sub",
                    "saturating_mul",
                    "min",
                    "max",
                ]);
                format!("{a}.{name}({b})")
            }
            9 => {
                let name = self.random.pick(&["add", "sub", "mul", "div", "rem"]);
                let otherwise = self.expression(ty, depth, false);
                format!("{a}.checked_{name}({b}).unwrap_or({otherwise})")
            }
            10 => {
                let (name, by) =
                    (self.random.pick(&["shl", "shr"]), self.expression(U32, 1, false));
                format!("{a}.checked_{name}({by}).unwrap_or({b})")
            }
            11 => {
                let name = self.random.pick(&[
                    "wrapping_shl",
                    "wrapping_shr",
                    "rotate_left",
                    "rotate_right",
                    "pow",
                    "wrapping_pow",
                ]);
                format!("{a}.{name}({})", self.expression(U32, depth, false))
            }
            12 if ty.is_signed() => format!("{a}.{}()", self.random.pick(&["abs", "wrapping_abs"])),
            12 => {
                let signed = if ty == U32 { I32 } else { I64 };
                let from = self.random.pick(&[ty, signed]);
                let (a, b) =
                    (self.expression(from, depth, true), self.expression(from, depth, false));
                format!("{a}.abs_diff({b})")
            }
            _ => format!("{a}.wrapping_neg()"),
        }
    }

    fn bits_of(&mut self, ty: Ty, depth: u32) -> String {
        if ty != U32 {
            return match self.random.below(2) {
                0 if ty == U64 => format!("u64::from({})", self.expression(U32, depth, true)),
                _ => format!("{}::from({})", ty.name(), self.expression(Bool, depth, true)),
            };
        }
        if self.random.one_in(3) {
            let value = self.expression(F32, depth, true);
            return format!(
                "({{ let t = {value}; if t.is_nan() {{ 7 }} else {{ t.to_bits() }} }})"
            );
        }
        let ty = self.random.pick(&[U32, I32, U64, I64]);
        let name = self.random.pick(&["leading_zeros", "trailing_zeros", "count_ones"]);
        format!("{}.{name}()", self.expression(ty, depth, true))
    }
}

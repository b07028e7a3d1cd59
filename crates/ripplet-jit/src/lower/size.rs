//! Decisions on inlining, by the size of functions.

use crate::JitError;
use ripplet_hooks::ir::{Block, Expression, ExpressionKind, FunctionId, Module, Range, Statement};

/// The largest size of a function that is inlined at its calls, including what is inlined into it.
const INLINED: usize = 200;

/// The largest own size of a function that others are inlined into. In larger functions calls are
/// not the main cost, and code of unbounded size takes unbounded time to compile.
const LARGEST_CALLER: usize = 2000;

/// The sizes of functions, and which are called.
pub(crate) struct Sizes {
    /// Parts (statements and expressions) of each function, including functions inlined into it.
    whole: Vec<usize>,
    /// Parts of each function itself.
    own: Vec<usize>,
    called: Vec<bool>,
}

impl Sizes {
    /// Computes the sizes of a module's functions.
    pub fn of(module: &Module) -> Result<Sizes, JitError> {
        let count = module.functions.len();
        let mut sizes = Sizes { whole: Vec::new(), own: Vec::new(), called: vec![false; count] };
        for (place, function) in module.functions.iter().enumerate() {
            let mut parts = Parts::default();
            parts.of_block(&function.body);
            sizes.own.push(parts.count);
            let mut whole = parts.count;
            for &callee in &parts.calls {
                if callee.0 >= place {
                    return Err(JitError::unsound("a function comes before one that it calls"));
                }
                if sizes.is_inlined(FunctionId(place), callee) {
                    whole += sizes.whole[callee.0];
                } else {
                    sizes.called[callee.0] = true;
                }
            }
            sizes.whole.push(whole);
        }
        Ok(sizes)
    }

    /// Returns whether a call of `callee` in `caller` is inlined.
    pub fn is_inlined(&self, caller: FunctionId, callee: FunctionId) -> bool {
        self.own[caller.0] <= LARGEST_CALLER && self.whole[callee.0] <= INLINED
    }

    /// Returns whether a function has a call that is not inlined.
    pub fn is_called(&self, function: FunctionId) -> bool {
        self.called[function.0]
    }
}

/// Returns whether an expression is cheap enough to be computed unconditionally.
pub(super) fn is_cheap(expression: &Expression) -> bool {
    /// Less than the cost of a mispredicted branch.
    const CHEAP: usize = 8;
    fn within(expression: &Expression, left: &mut usize) -> bool {
        *left = left.saturating_sub(1);
        if *left == 0 {
            return false;
        }
        match &expression.kind {
            ExpressionKind::Constant(_)
            | ExpressionKind::Local(_)
            | ExpressionKind::Parameter(_) => true,
            ExpressionKind::Unary(_, value) | ExpressionKind::Cast(value) => within(value, left),
            ExpressionKind::Binary(operation, a, b) => {
                use ripplet_hooks::ir::Binary::{Div, Pow, Rem};
                !matches!(operation, Div | Pow | Rem) && within(a, left) && within(b, left)
            }
            ExpressionKind::VoteLabel(vote) | ExpressionKind::VoteWeight(vote) => {
                within(vote, left)
            }
            ExpressionKind::Vote(label, weight) => within(label, left) && within(weight, left),
            _ => false,
        }
    }
    within(expression, &mut { CHEAP })
}

/// The size of a function, and its calls.
#[derive(Default)]
struct Parts {
    count: usize,
    calls: Vec<FunctionId>,
}

impl Parts {
    fn of_block(&mut self, block: &Block) {
        block.iter().for_each(|statement| self.of_statement(statement));
    }

    fn of_statement(&mut self, statement: &Statement) {
        self.count += 1;
        match statement {
            Statement::Let { value, .. } | Statement::Return(value) => self.of_all(value),
            Statement::Set { value, .. } | Statement::Run(value) => self.of_expression(value),
            Statement::SetColumn { index, value, .. } => {
                self.of_all(index);
                self.of_expression(value);
            }
            Statement::If { condition, then, otherwise } => {
                self.of_expression(condition);
                self.of_block(then);
                self.of_block(otherwise);
            }
            Statement::Match { on, arms, otherwise } => {
                self.of_expression(on);
                for arm in arms {
                    self.count += 3 * arm.values.len();
                    self.of_block(&arm.block);
                }
                self.of_block(otherwise);
            }
            Statement::For { range: Range { first, end, .. }, body, .. } => {
                self.of_expression(first);
                self.of_expression(end);
                self.of_block(body);
            }
            Statement::While { condition, body } => {
                self.of_expression(condition);
                self.of_block(body);
            }
            Statement::Break | Statement::Continue => {}
        }
    }

    fn of_all<'e>(&mut self, expressions: impl IntoIterator<Item = &'e Expression>) {
        expressions.into_iter().for_each(|expression| self.of_expression(expression));
    }

    fn of_expression(&mut self, expression: &Expression) {
        self.count += 1;
        match &expression.kind {
            ExpressionKind::Constant(_)
            | ExpressionKind::Local(_)
            | ExpressionKind::Parameter(_)
            | ExpressionKind::Field { .. } => {}
            ExpressionKind::Random { stream, .. } => self.of_expression(stream),
            ExpressionKind::Column { index, .. } => self.of_all(index.as_deref()),
            ExpressionKind::Unary(_, value)
            | ExpressionKind::Cast(value)
            | ExpressionKind::VoteLabel(value)
            | ExpressionKind::VoteWeight(value) => self.of_expression(value),
            ExpressionKind::Binary(_, a, b) | ExpressionKind::Vote(a, b) => {
                self.of_all([&**a, &**b]);
            }
            ExpressionKind::Checked { left, right, otherwise, .. } => {
                self.of_all([&**left, &**right, &**otherwise]);
            }
            ExpressionKind::Select { condition, then, otherwise } => {
                self.of_all([&**condition, &**then, &**otherwise]);
            }
            ExpressionKind::Call { function, arguments } => {
                self.calls.push(*function);
                self.of_all(arguments);
            }
            ExpressionKind::ProductsGe(factors) => self.of_all(factors.iter()),
        }
    }
}

//! Makes `\d`, `\s`, `\w` and `\b` mean ASCII, as JavaScript does. In Unicode `\d` would take the
//! digits of forty scripts, and a lazy DFA cannot carry Unicode's `\b` at all.
//!
//! The syntax tree is changed, not the text: offsets of faults stay those of the expression.

use regex_syntax::ast::{
    Assertion, AssertionKind, Ast, ClassAscii, ClassAsciiKind, ClassBracketed, ClassPerl,
    ClassPerlKind, ClassSet, ClassSetItem, Flag, Flags, FlagsItem, FlagsItemKind, Group, GroupKind,
};

/// The parser's limit of nesting bounds the recursion.
pub fn make_ascii(ast: &mut Ast) {
    match ast {
        Ast::ClassPerl(class) => {
            *ast = Ast::class_bracketed(ClassBracketed {
                span: class.span,
                negated: false,
                kind: ClassSet::Item(ClassSetItem::Ascii(ascii_class(class))),
            });
        }
        Ast::Assertion(assertion) if is_word_assertion(assertion) => {
            *ast = without_unicode((**assertion).clone());
        }
        Ast::ClassBracketed(class) => make_set_ascii(&mut class.kind),
        Ast::Repetition(repetition) => make_ascii(&mut repetition.ast),
        Ast::Group(group) => make_ascii(&mut group.ast),
        Ast::Alternation(alternation) => alternation.asts.iter_mut().for_each(make_ascii),
        Ast::Concat(concat) => concat.asts.iter_mut().for_each(make_ascii),
        Ast::Empty(_)
        | Ast::Flags(_)
        | Ast::Literal(_)
        | Ast::Dot(_)
        | Ast::Assertion(_)
        | Ast::ClassUnicode(_) => {}
    }
}

fn make_set_ascii(set: &mut ClassSet) {
    match set {
        ClassSet::Item(item) => make_item_ascii(item),
        ClassSet::BinaryOp(operation) => {
            make_set_ascii(&mut operation.lhs);
            make_set_ascii(&mut operation.rhs);
        }
    }
}

fn make_item_ascii(item: &mut ClassSetItem) {
    match item {
        ClassSetItem::Perl(class) => *item = ClassSetItem::Ascii(ascii_class(class)),
        ClassSetItem::Bracketed(class) => make_set_ascii(&mut class.kind),
        ClassSetItem::Union(union) => union.items.iter_mut().for_each(make_item_ascii),
        _ => {}
    }
}

fn ascii_class(class: &ClassPerl) -> ClassAscii {
    let kind = match class.kind {
        ClassPerlKind::Digit => ClassAsciiKind::Digit,
        ClassPerlKind::Space => ClassAsciiKind::Space,
        ClassPerlKind::Word => ClassAsciiKind::Word,
    };
    ClassAscii {
        span: class.span,
        kind,
        negated: class.negated,
    }
}

fn is_word_assertion(assertion: &Assertion) -> bool {
    use AssertionKind::*;
    !matches!(assertion.kind, StartLine | EndLine | StartText | EndText)
}

/// `(?-u:…)` around an assertion.
fn without_unicode(assertion: Assertion) -> Ast {
    let span = assertion.span;
    let item = |kind| FlagsItem { span, kind };
    let items = vec![
        item(FlagsItemKind::Negation),
        item(FlagsItemKind::Flag(Flag::Unicode)),
    ];
    Ast::group(Group {
        span,
        kind: GroupKind::NonCapturing(Flags { span, items }),
        ast: Box::new(Ast::assertion(assertion)),
    })
}

"""Bad statements are refused with one error that says what is wrong, where, and what would be right.

Every case is the text, the place as ``line:column``, the message, and the hint: the error is compared in full.
"""

from __future__ import annotations

import pytest

from tests.ir.parsing import refused_body

# The text is the body of a kernel; lines count from the first of the body.
CASES: dict[str, tuple[str, str, str, str]] = {
    "an undefined name": (
        "r = a + missing",
        "1:17",
        "undefined variable 'missing'",
        "define it before this use, in this block or one around it",
    ),
    "a name of a loop, used after it": (
        """
            for i in pl.range(4):
                t = a + i
            r = t
        """,
        "3:13",
        "'t' is bound inside the loop of line 7 and not handed out of it",
        "carry it: init_values=(t,), and end the body with t = pl.yield_(...)",
    ),
    "a name bound again in a loop, used after it": (
        """
            t = a
            for i in pl.range(4):
                t = b + i
            r = t
        """,
        "4:13",
        "'t' is bound inside the loop of line 8 and not handed out of it",
        "carry it: init_values=(t,), and end the body with t = pl.yield_(...)",
    ),
    "a name bound again in a branch, used after it": (
        """
            t = a
            if p:
                t = b
            r = t
        """,
        "4:13",
        "'t' is bound inside the branch of line 8 and not handed out of it",
        "end both branches with t = pl.yield_(...)",
    ),
    "a name of a branch, used after it": (
        """
            if p:
                t = b
            else:
                t = a
            r = t
        """,
        "5:13",
        "'t' is bound inside the branch of line 7 and not handed out of it",
        "end both branches with t = pl.yield_(...)",
    ),
    "a name read before a loop binds it again": (
        """
            t = a
            for i in pl.range(4):
                r = t + 1
                t = r
        """,
        "3:17",
        "'t' is read here and bound again later in the loop of line 8: the next round would see the new value",
        "carry it: init_values=(t,), and end the body with t = pl.yield_(...)",
    ),
    "a name updated in a loop": (
        """
            t = a
            for i in pl.range(4):
                t += i
        """,
        "3:13",
        "'t' is read here and bound again later in the loop of line 8: the next round would see the new value",
        "carry it: init_values=(t,), and end the body with t = pl.yield_(...)",
    ),
    "a yield in the middle": (
        """
            for i, (s,) in pl.range(4, init_values=(a,)):
                r = pl.yield_(s)
                t = a
        """,
        "2:13",
        "pl.yield_ must end its block",
        "move it to the end",
    ),
    "a yield outside loops": (
        "r = pl.yield_(a)",
        "1:9",
        "pl.yield_ outside a loop or branch",
        "use return",
    ),
    "a variable named as the language": (
        "pl = a",
        "1:9",
        "'pl' is bound, but stands for the language",
        "give the variable another name",
    ),
    "an import in place of the language": (
        """
            if p:
                import limits as pl
        """,
        "2:13",
        "'pl' is bound, but stands for the language",
        "give the variable another name",
    ),
    "a yield of what is no value": (
        "r = pl.yield_((n := 4))",
        "0:5",
        "'f' has ':=', 'yield', 'await' or a generator where a value is needed",
        "write a value, or a name bound to it",
    ),
    "a name that an unknown statement takes from a loop": (
        """
            for i in pl.range(4):
                t = a
            assert t > 0
        """,
        "3:9",
        "'t' is bound inside the loop of line 7 and not handed out of it",
        "carry it: init_values=(t,), and end the body with t = pl.yield_(...)",
    ),
    "a yield inside an expression": (
        """
            for i, (s,) in pl.range(4, init_values=(a,)):
                r = pl.yield_(s) + 1
        """,
        "2:17",
        "pl.yield_ inside an expression",
        "make it the last statement of its block",
    ),
    "a yield in a runtime scope": (
        """
            with pl.scope():
                r = pl.yield_(a)
        """,
        "2:13",
        "pl.yield_ inside a runtime scope",
        "put it behind the scope",
    ),
    "carries, but no yield": (
        """
            for i, (s,) in pl.range(4, init_values=(a,)):
                t = s
        """,
        "1:9",
        "the loop has 1 iter-arg but yields nothing",
        "end its body with pl.yield_",
    ),
    "more yields than carries": (
        """
            for i, (s,) in pl.range(4, init_values=(a,)):
                r, q = pl.yield_(s, i)
        """,
        "2:13",
        "the loop has 1 iter-arg but yields 2 values",
        "yield one value for each iter-arg",
    ),
    "fewer names than yields": (
        """
            for i, (s, t) in pl.range(4, init_values=(a, b)):
                r = pl.yield_(s, t)
        """,
        "2:13",
        "the yield gives 2 values to 1 name",
        "name each value once",
    ),
    "a yield without carries": (
        """
            for i in pl.range(4):
                r = pl.yield_(i)
        """,
        "2:13",
        "the loop has 0 iter-args but yields 1 value",
        "yield one value for each iter-arg",
    ),
    "more carries than init values": (
        """
            for i, (s, t) in pl.range(4, init_values=(a,)):
                r = pl.yield_(s)
        """,
        "1:13",
        "the loop binds 2 iter-args but has 1 init value",
        "name each init value once",
    ),
    "an init value that is no tuple": (
        """
            for i, (s,) in pl.range(4, init_values=a):
                r = pl.yield_(s)
        """,
        "1:48",
        "init_values is a tuple",
        "write init_values=(x,)",
    ),
    "one branch yields": (
        """
            if p:
                r = pl.yield_(a)
            else:
                pl.announce(b)
        """,
        "1:9",
        "only one branch of the if yields",
        "end both with pl.yield_",
    ),
    "a yield, but no else": (
        """
            if p:
                r = pl.yield_(a)
        """,
        "1:9",
        "only one branch of the if yields",
        "end both with pl.yield_",
    ),
    "branches that yield different names": (
        """
            if p:
                r = pl.yield_(a)
            else:
                q = pl.yield_(b)
        """,
        "4:13",
        "the branches of the if yield different variables",
        "assign the same names in both",
    ),
    "branches that annotate differently": (
        """
            if p:
                r: pl.Scalar[pl.INDEX] = pl.yield_(a)
            else:
                r: pl.Scalar[pl.INT32] = pl.yield_(b)
        """,
        "4:13",
        "the branches of the if annotate 'r' differently",
        "state the same type in both",
    ),
    "a yield by keyword": (
        """
            for i, (s,) in pl.range(4, init_values=(a,)):
                r = pl.yield_(value=s)
        """,
        "2:27",
        "pl.yield_ takes values only",
        "write pl.yield_(x, y)",
    ),
    "a carry without brackets": (
        """
            for i, s in pl.range(4, init_values=(a,)):
                r = pl.yield_(a)
        """,
        "1:13",
        "malformed loop target",
        "write `for i in ...` or `for i, (a, b) in ...`; one carry is `(a,)`",
    ),
    "a loop over an attribute": (
        """
            for x.i in pl.range(4):
                pass
        """,
        "1:13",
        "malformed loop target",
        "write `for i in ...` or `for i, (a, b) in ...`; one carry is `(a,)`",
    ),
    "a loop without bounds": (
        """
            for i in pl.range():
                pass
        """,
        "1:18",
        "a loop takes one to three bounds",
        "write pl.range(start, stop, step)",
    ),
    "a loop with four bounds": (
        """
            for i in pl.range(0, 4, 1, 2):
                pass
        """,
        "1:18",
        "a loop takes one to three bounds",
        "write pl.range(start, stop, step)",
    ),
    "a bound with a fraction": (
        """
            for i in pl.parallel(1.5):
                pass
        """,
        "1:30",
        "a loop bound is '1.5'",
        "an integer is needed",
    ),
    "a tensor as bound": (
        """
            for i in pl.range(x):
                pass
        """,
        "1:27",
        "a loop bound is a tensor",
        "a scalar is needed",
    ),
    "a list as bound": (
        """
            for i in pl.range([4]):
                pass
        """,
        "1:27",
        "a loop bound is '[4]'",
        "a scalar is needed",
    ),
    "a while loop without condition": (
        """
            for (s,) in pl.while_(init_values=(a,)):
                r = pl.yield_(s)
        """,
        "2:13",
        "a while loop starts with its condition",
        "write pl.cond(...) first",
    ),
    "a while loop without carries": (
        """
            for s in pl.while_(init_values=(a,)):
                pl.cond(s > 0)
                r = pl.yield_(s)
        """,
        "1:9",
        "malformed while loop",
        "write `for (a,) in pl.while_(init_values=(x,)):`",
    ),
    "a while loop without yield": (
        """
            for (s,) in pl.while_(init_values=(a,)):
                pl.cond(s > 0)
        """,
        "1:9",
        "the loop has 1 iter-arg but yields nothing",
        "end its body with pl.yield_",
    ),
    "a tensor as condition": (
        """
            if x:
                pass
        """,
        "1:12",
        "the condition is a tensor",
        "a scalar is needed",
    ),
    "a string as condition": (
        """
            if 'p':
                pass
        """,
        "1:12",
        "the condition is 'p'",
        "a scalar is needed",
    ),
    "an operator on tensors": (
        "r = x + x",
        "1:13",
        "'x', an operand of '+', is a tensor",
        "operators are for scalars: call an op, pl.add(a, b), say",
    ),
    "an import that binds a variable again": (
        """
            t = a
            import t
        """,
        "2:9",
        "a statement that is not modelled binds 't' again",
        "give the new value a name of its own",
    ),
    "an unknown loop that binds a variable again": (
        """
            t = a
            for t in given():
                pass
        """,
        "2:9",
        "a statement that is not modelled binds 't' again",
        "give the new value a name of its own",
    ),
    "a parameter of a lambda that shadows a rebound name": (
        """
            t = a
            t = b
            r: pl.Scalar[pl.INDEX] = (lambda t: t + 1)(t)
        """,
        "3:34",
        "'t' is bound more than once and used in a text that is not modelled",
        "give the rebound variable a name of its own",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_statement(name: str) -> None:
    refused_body(*CASES[name])

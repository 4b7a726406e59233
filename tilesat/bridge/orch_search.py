"""What a program costs under a model of orchestration, packing included."""

from __future__ import annotations

from collections import defaultdict

from tilesat.bridge.orch_stage import OrchContext
from tilesat.extract.orch_cost import CheckedOrchModel, Frequencies, ProgramCost, byte_count
from tilesat.ir.nodes import Assign, OpCall, Program
from tilesat.ir.types import Dim, Direction, TensorType
from tilesat.ir_terms.egraph import EGraph
from tilesat.ir_terms.orch_facts import Launch, ProgramFacts, program_facts
from tilesat.ir_terms.orch_facts_kernel import kernel_facts
from tilesat.ir_terms.orch_facts_strides import StridesFacts, strides_of


def program_cost(program: Program, context: OrchContext, model: CheckedOrchModel) -> float:
    """The cost of ``program``: allocations, dependencies, kernels, stores, and tensors that are packed."""
    facts = program_facts(program, context.workspace)
    total = ProgramCost(facts, model).total(program)
    strides = StridesFacts(facts)
    if strides.is_empty or not context.rules.has_stage("strides"):
        return total
    with context.decided("strides", facts.rows) as graph:
        return total + _Packing(graph, facts, strides.texts, model).total()


class _Packing:
    """Tensors that are copied: with other strides than their kernel expects, or assembled from elsewhere."""

    def __init__(self, graph: EGraph, facts: ProgramFacts, texts: dict[str, Dim], model: CheckedOrchModel) -> None:
        self.facts = facts
        self.texts = texts
        self.model = model
        self.frequencies = Frequencies(facts, model.frequency)
        self.dims: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for variable, dimension, text in graph.table("strided").read("str", "int", "str"):
            self.dims[variable][dimension].add(text)
        self.unclear = {variable for (variable,) in graph.table("unclear").read("str")}
        self.windowed = {variable for (variable,) in graph.table("windowed").read("str")}
        self.placed = {(n, p): parent for n, p, parent in facts.rows.get("placed-at", ())}

    def total(self) -> float:
        in_place: set[str] = set(self.windowed)
        total = 0.0
        for launch in self.facts.launches:
            if launch.callee.is_incore:
                total += self._inputs(launch)
                in_place |= self._written_in_place(launch)
        return total + self._assembles(in_place)

    def _inputs(self, launch: Launch) -> float:
        total = 0.0
        for position, param in enumerate(launch.callee.params):
            if not isinstance(param.type, TensorType) or param.direction is not Direction.In:
                continue
            arg = launch.call.args[position] if position < len(launch.call.args) else None
            given = None if arg is None else self.facts.tensor(launch.caller, arg)
            if given is not None and given in self.windowed and not self._agrees(given, param.type):
                frequency = self.frequencies.at(launch.caller, launch.site)
                total += frequency * self.model.price("packing", byte_count(param.type))
        return total

    def _written_in_place(self, launch: Launch) -> set[str]:
        """Results that the kernel writes right where they are assembled."""
        results = kernel_facts(self.facts.workspace, launch.callee).results
        found: set[str] = set()
        for output, result in results.items():
            parent, type_ = self.placed.get((launch.number, output)), launch.callee.params[output].type
            if parent is not None and isinstance(type_, TensorType) and self._agrees(parent, type_):
                found |= set(self.facts.result_names[launch.number, result])
        return found

    def _agrees(self, variable: str, type_: TensorType) -> bool:
        """Whether ``variable`` has, in its trailing dimensions, the strides of ``type_``."""
        dims, rank = self.dims[variable], len(type_.shape)
        if variable in self.unclear or len(dims) < rank or any(len(texts) != 1 for texts in dims.values()):
            return False
        actual = tuple([self.texts[min(dims[d])] for d in range(len(dims) - rank, len(dims))])
        return actual == strides_of(type_)

    def _assembles(self, in_place: set[str]) -> float:
        total = 0.0
        for function in self.facts.program.functions:
            if function.is_incore:
                continue
            for site, stmt in enumerate(self.facts.index(function).sites):
                call = stmt.value if isinstance(stmt, Assign) else None
                if not isinstance(call, OpCall) or call.op != "tensor.assemble":
                    continue
                source = self.facts.tensor(function.name, call.args[1])
                if source is not None and source not in in_place:
                    type_ = self.facts.type_of(function.name, source.partition(":")[2])
                    price = self.model.price("packing", byte_count(type_))
                    total += price * self.frequencies.at(function.name, site)
        return total

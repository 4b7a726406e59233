"""The moves of the local search: changes to one choice that a tree cost cannot weigh.

Each move returns whether it left a legal state at all; whether that state is better is for the caller to see in its
total, and to roll back. Prices are marginal: what is paid stays free, what nobody uses any more is given back.
"""

from __future__ import annotations

from tilesat.extract.problem import Problem
from tilesat.extract.state import NO_BOUND, Mark, State

CANDIDATES = 64
POLISHED = 40
WAVE = 30
STEPS_PER_CLASS = 4


class Moves:
    """Moves on :attr:`state`."""

    def __init__(self, problem: Problem, state: State) -> None:
        self.problem = problem
        self.state = state
        self.is_root = bytearray(len(problem.ways))
        for root in problem.roots:
            self.is_root[root] = 1
        self.slots = set(problem.slots())
        self._guarded: dict[int, list[int]] = {}
        for way, guard in enumerate(problem.guard):
            if guard >= 0:
                self._guarded.setdefault(guard, []).append(way)

    # ------------------------------------------------------------------------- one class

    def improve(self, cls: int, slack: int = 0) -> bool:
        """Give used class ``cls`` the way of least marginal price; may cost up to ``slack`` more than now."""
        state = self.state
        old = state.chosen[cls]
        ways = self.problem.ways[cls]
        if old < 0 or len(ways) < 2 or cls in self.slots:
            return False
        mark = state.mark()
        bound = state.total + slack
        state.detach(cls)
        blocked = state.dependents((cls,))
        blocked.add(cls)
        best = self._best_way(cls, blocked, bound, old)
        if best is not None:
            return state.switch(cls, best, blocked, bound)
        state.rollback(mark)
        return False

    def leave(self, cls: int) -> bool:
        """Give used class ``cls`` the cheapest way that is not the one it has, whatever it costs."""
        state = self.state
        old = state.chosen[cls]
        if old < 0 or len(self.problem.ways[cls]) < 2 or cls in self.slots:
            return False
        state.detach(cls)
        blocked = state.dependents((cls,))
        blocked.add(cls)
        best = self._best_way(cls, blocked, NO_BOUND, old)
        return best is not None and state.switch(cls, best, blocked, NO_BOUND)

    def _best_way(self, cls: int, blocked: set[int], bound: int, old: int) -> int | None:
        """The cheapest way below ``bound`` for detached ``cls``, other than ``old``."""
        state = self.state
        detached = state.mark()
        best = None
        for way in self.problem.ways[cls]:
            if way == old or not state.is_allowed(way) or state.total + state.price[way] >= bound:
                continue
            if state.switch(cls, way, blocked, bound):
                best, bound = way, state.total
            state.rollback(detached)
        return best

    def polish(self, since: Mark) -> None:
        """Improve the classes that changed since ``since``, and their users."""
        state = self.state
        changed = {index: None for array, index, _ in state.log[since[0] :] if array is state.chosen}
        for cls in list(changed):
            changed.update(dict.fromkeys(state.active_users(cls)))
        for cls in list(changed)[:POLISHED]:
            self.improve(cls)

    # ------------------------------------------------------------------- several classes

    def open(self, cls: int) -> bool:
        """Pay for unused ``cls``, let the users that can switch to it do so, keep what then is used."""
        state = self.state
        candidates = self._possible_users(cls)
        if len(candidates) < 2 or not state.derive(cls, set(), NO_BOUND):
            return False
        state.hold(cls, 1)
        for user in candidates:
            self.improve(user, slack=1)
        state.hold(cls, -1)
        if not state.users[cls]:
            state.detach(cls)
        return True

    def _possible_users(self, cls: int) -> list[int]:
        """Used classes that could need ``cls``, directly or through unused classes."""
        state, problem = self.state, self.problem
        found: dict[int, None] = {}
        seen = {cls}
        region = [cls]
        for top in region:
            for way in problem.parents[top]:
                user = problem.cls[way]
                if not state.is_allowed(way):
                    continue
                if state.chosen[user] >= 0:
                    found[user] = None
                elif user not in seen and len(seen) < CANDIDATES:
                    seen.add(user)
                    region.append(user)
        return list(found)

    def close(self, cls: int) -> bool:
        """Make all users of ``cls`` do without it."""
        mark = self.state.mark()
        if not self.shut(cls):
            return False
        self.polish(mark)
        return True

    def shut(self, cls: int) -> bool:
        """:meth:`close` without a second look at what changed."""
        return not self.is_root[cls] and self._reroute(self.state.active_users(cls), {cls})

    def _reroute(self, victims: list[int], banned: set[int], unpaid: tuple[int, ...] = ()) -> bool:
        """Give ``victims`` new ways that avoid ``banned``, and derive ``unpaid``.

        A victim for which there is none hands the problem on to its users. Slots that come out of it elsewhere
        make victims of what they guarded.
        """
        state = self.state
        pending = dict.fromkeys(victims)
        for cls in victims:
            state.detach(cls)
        pending.update(dict.fromkeys(unpaid))
        for _ in range(STEPS_PER_CLASS * len(self.problem.ways)):
            settled = [cls for cls in pending if state.chosen[cls] >= 0 or not state.users[cls]]
            evicted = [user for cls in settled for user in self._misplaced(cls)]
            for cls in settled:
                del pending[cls]
            if not settled:
                if not pending:
                    return True
                if self._derive_any(pending, banned):
                    continue
                lost = next(iter(pending))
                if self.is_root[lost]:
                    return False
                evicted = state.active_users(lost)
            for cls in evicted:
                state.detach(cls)
                pending[cls] = None
        return False

    def _derive_any(self, pending: dict[int, None], banned: set[int]) -> bool:
        state = self.state
        blocked = state.dependents(pending) | banned
        return any(state.derive(cls, blocked, NO_BOUND) for cls in pending)

    def _misplaced(self, slot: int) -> list[int]:
        """Used classes whose way is guarded by a way of ``slot`` that is not chosen."""
        if slot not in self.slots:
            return []
        state = self.state
        return [
            self.problem.cls[guarded]
            for way in self.problem.ways[slot]
            if way != state.chosen[slot]
            for guarded in self._guarded.get(way, ())
            if state.chosen[self.problem.cls[guarded]] == guarded
        ]

    # ----------------------------------------------------------------------------- slots

    def flip(self, slot: int) -> bool:
        """Move ``slot`` to its best other way, neighbouring slots following where that is no dearer."""
        state = self.state
        start = state.mark()
        best: int | None = None
        bound = start[1]
        for way in self.problem.ways[slot]:
            if way != state.chosen[slot] and self._flip_wave(slot, way) and state.total < bound:
                best, bound = way, state.total
            state.rollback(start)
        return best is not None and self._flip_wave(slot, best)

    def _flip_wave(self, slot: int, way: int) -> bool:
        start = self.state.mark()
        if not self._flip_one(slot, way):
            return False
        done = {slot}
        while len(done) < WAVE:
            ahead = [other for other in self._neighbour_slots(start) if other not in done]
            if not ahead:
                break
            for other in ahead:
                done.add(other)
                self._follow(other)
        return True

    def _follow(self, slot: int) -> None:
        """Flip ``slot`` to the way that is best now, if that is not dearer than to leave it."""
        state = self.state
        before = state.mark()
        best: int | None = None
        bound = before[1] + 1
        for way in self.problem.ways[slot]:
            if way != state.chosen[slot] and self._flip_one(slot, way) and state.total < bound:
                best, bound = way, state.total
            state.rollback(before)
        if best is not None:
            self._flip_one(slot, best)

    def _flip_one(self, slot: int, way: int) -> bool:
        state = self.state
        if not state.is_allowed(way):
            return False
        before = state.mark()
        state.detach(slot)
        state.attach(slot, way)
        unpaid = tuple(child for child in self.problem.children[way] if state.chosen[child] < 0)
        above = state.dependents((slot,))
        circular = [child for child in self.problem.children[way] if child in above]
        if not self._reroute(self._misplaced(slot) + circular, set(), unpaid):
            return False
        self.polish(before)
        for cls in self._enabled(way):
            self.improve(cls)
        return True

    def _enabled(self, way: int) -> list[int]:
        """Used classes that slot way ``way`` gives another way, directly or through unused classes."""
        found: dict[int, None] = {}
        for guarded in self._guarded.get(way, ()):
            cls = self.problem.cls[guarded]
            if self.state.chosen[cls] >= 0:
                found[cls] = None
            else:
                found.update(dict.fromkeys(self._possible_users(cls)))
        return list(found)[:POLISHED]

    def _neighbour_slots(self, since: Mark) -> list[int]:
        """Slots that ask for, or guard, what changed since ``since``."""
        state, problem = self.state, self.problem
        found: dict[int, None] = {}
        for cls in dict.fromkeys(index for array, index, _ in state.log[since[0] :] if array is not state.load):
            for user in state.active_users(cls):
                if user in self.slots:
                    found[user] = None
            way = state.chosen[cls]
            if way >= 0 and problem.guard[way] >= 0:
                found[problem.cls[problem.guard[way]]] = None
        return list(found)

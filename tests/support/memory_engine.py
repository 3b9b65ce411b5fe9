"""An engine in memory, for tests of what uses one."""

import asyncio
from time import time

from sexplang.runtime.fleet import Leaf, Wake


class MemoryEngine:
    """Offers in the memory of one process; `at` is the time of each."""

    def __init__(self):
        self.offers = {}

    def carry(self, leaves):
        for leaf in leaves:
            self.offers.setdefault(leaf.id, (leaf, 0.0))

    def wake(self, run, at=None, priority=0):
        if at is None:
            self.offers.setdefault(run, (Wake(run, None, priority), 0.0))
        else:
            self.offers[f"{run}@timer"] = (Wake(run, at, priority), at)

    def cancel(self, ids):
        for id in ids:
            self.offers.pop(id, None)
            self.offers.pop(f"{id}@timer", None)

    async def work(self, places, work):
        """Do what is offered, one after the other, until nothing is or the worker is stopped."""
        owed = work.find_owed()
        for wake in owed.wakes:
            self.wake(wake.run, wake.at, wake.priority)
        self.carry(owed.leaves)
        while not work.stop.is_set():
            due = [id for id, (_, at) in self.offers.items() if at <= time()]
            due.sort(key=lambda id: -self.offers[id][0].priority)
            if not due:
                return
            offer, _ = self.offers.pop(due[0])
            is_leaf = isinstance(offer, Leaf)
            later = await (work.perform(offer) if is_leaf else work.drive(offer.run))
            if later is not None:
                self.offers[due[0]] = (offer, time() + later)
            await asyncio.sleep(0)

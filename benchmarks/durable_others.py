"""One step of other durable executions, for `durable.py others`. None of them is a dependency."""

import os
from time import perf_counter
from typing import Any, TypedDict

REPLY = "x" * 200


def run_dbos(folder: str, count: int) -> float:
    """Return the seconds of a step of a DBOS workflow with SQLite."""
    from dbos import DBOS

    url = f"sqlite:///{os.path.join(folder, 'dbos.sqlite')}"
    DBOS(config={"name": "durable", "system_database_url": url, "log_level": "ERROR"})

    @DBOS.step()
    def ask(n: int) -> str:
        return REPLY

    @DBOS.workflow()
    def walk(count: int) -> None:
        for n in range(count):
            ask(n)

    DBOS.launch()
    walk(10)
    begun = perf_counter()
    walk(count)
    spent = perf_counter() - begun
    DBOS.destroy()
    return spent / count


class Walk(TypedDict):
    left: int
    reply: str


def run_langgraph(folder: str, count: int) -> float:
    """Return the seconds of a node of a graph with the SQLite checkpointer, written before the next
    node begins."""
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import END, START, StateGraph

    def ask(state: Walk) -> Walk:
        return {"left": state["left"] - 1, "reply": REPLY}

    graph = StateGraph(Walk)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", lambda state: "ask" if state["left"] else END)
    with SqliteSaver.from_conn_string(os.path.join(folder, "graph.db")) as saver:
        compiled = graph.compile(checkpointer=saver)
        given: Walk = {"left": count, "reply": ""}
        config: Any = {"configurable": {"thread_id": "1"}, "recursion_limit": count + 10}
        begun = perf_counter()
        compiled.invoke(given, config, durability="sync")
        spent = perf_counter() - begun
    return spent / count

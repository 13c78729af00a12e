/*
 * make_clause.h
 *	  Operators and calls, as the planner's support functions read and make
 *	  them.
 */
#ifndef SIMHASH_MAKE_CLAUSE_H
#define SIMHASH_MAKE_CLAUSE_H

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

/*
 * Set *function to what an operator or a call of a function calls, and return
 * its arguments; NIL if node is neither.
 */
static inline List *
called_function(Node *node, Oid *function)
{
	*function = InvalidOid;
	if (IsA(node, OpExpr))
	{
		set_opfuncid((OpExpr *) node);
		*function = ((OpExpr *) node)->opfuncid;
		return ((OpExpr *) node)->args;
	}
	if (!IsA(node, FuncExpr))
		return NIL;
	*function = ((FuncExpr *) node)->funcid;
	return ((FuncExpr *) node)->args;
}

static inline Expr *
make_operator(Oid opno, Oid type, Expr *left, Expr *right)
{
	Expr	   *clause = make_opclause(opno, type, false, left, right,
									   InvalidOid, InvalidOid);

	set_opfuncid((OpExpr *) clause);
	return clause;
}

static inline Expr *
make_call(Oid function, Oid type, List *args)
{
	return (Expr *) makeFuncExpr(function, type, args, InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

#endif							/* SIMHASH_MAKE_CLAUSE_H */

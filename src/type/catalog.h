/*
 * catalog.h
 *	  Objects of the extension, looked up by name; and operators and calls, as
 *	  support functions of the planner read and make them.
 */
#ifndef SIMHASH_CATALOG_H
#define SIMHASH_CATALOG_H

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

extern void simhash_catalog_init(void);
extern Oid	simhash_find_type(Oid schema, const char *name);
extern Oid	simhash_find_function(Oid schema, const char *name, int count,
								  const Oid *types);
extern Oid	simhash_find_operator(Oid schema, const char *name, Oid left,
								  Oid right);
extern char *simhash_library(void);
extern int	simhash_bits(Oid function, Oid type);
extern const char *simhash_c_name(Oid function);

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

#endif							/* SIMHASH_CATALOG_H */

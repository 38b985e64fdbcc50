import { compileGlob } from "./glob.ts";
/** A tool selection: `include` null means all; `exclude` wins. Patterns are `package/tool` globs; one without `/` names whole apps. */
export function compileSelection(include, exclude) {
    const compile = (pattern) => compileGlob(pattern.includes("/") ? pattern : `${pattern}/*`);
    const wanted = include?.map(compile) ?? null;
    const unwanted = exclude.map(compile);
    if (wanted === null && unwanted.length === 0)
        return () => true;
    return (app, tool) => {
        const name = `${app}/${tool}`;
        return (wanted === null || wanted.some((glob) => glob.matches(name))) && !unwanted.some((glob) => glob.matches(name));
    };
}

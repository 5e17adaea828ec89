/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Classes, objects, methods, properties and protocols at run time. Any thread may call any of these. Arrays named
 * "copy" are the caller's to free(); a name or a type is the runtime's. What takes a class takes Nil and says nothing.
 */
#pragma once

#include <objc/message.h>
#include <objc/objc.h>

typedef struct objc_method* Method;
typedef struct objc_ivar* Ivar;
typedef struct objc_property* objc_property_t;
#ifdef __OBJC__
@class Protocol;
#else
typedef struct objc_protocol Protocol;
#endif
struct objc_method_description {
  SEL name;
  const char* types;
};

OBJC_EXPORT Class objc_getClass(const char* name);    /* Nil when there is none of the name */
OBJC_EXPORT Class objc_lookUpClass(const char* name); /* the same */
OBJC_EXPORT Class objc_getMetaClass(const char* name);
OBJC_EXPORT Class objc_getRequiredClass(const char* name); /* ends the program when there is none */
OBJC_EXPORT int objc_getClassList(Class* classes, int room);
OBJC_EXPORT Class* objc_copyClassList(unsigned* count);

/** A new class: between the two calls ivars may be added, methods at any time. Nil: the name is taken. */
OBJC_EXPORT Class objc_allocateClassPair(Class superclass, const char* name, size_t extra);
OBJC_EXPORT void objc_registerClassPair(Class made);

OBJC_EXPORT const char* class_getName(Class of);
OBJC_EXPORT Class class_getSuperclass(Class of);
OBJC_EXPORT BOOL class_isMetaClass(Class of);
OBJC_EXPORT size_t class_getInstanceSize(Class of);
OBJC_EXPORT int class_getVersion(Class of);
OBJC_EXPORT void class_setVersion(Class of, int version);
OBJC_EXPORT Method class_getInstanceMethod(Class of, SEL selector);
OBJC_EXPORT Method class_getClassMethod(Class of, SEL selector);
OBJC_EXPORT IMP class_getMethodImplementation(Class of, SEL selector);
OBJC_EXPORT IMP class_getMethodImplementation_stret(Class of, SEL selector);
OBJC_EXPORT BOOL class_respondsToSelector(Class of, SEL selector);
OBJC_EXPORT Method* class_copyMethodList(Class of, unsigned* count);
OBJC_EXPORT BOOL class_addMethod(Class to, SEL selector, IMP implementation, const char* types);
OBJC_EXPORT IMP class_replaceMethod(Class of, SEL selector, IMP implementation, const char* types);
OBJC_EXPORT BOOL class_addIvar(Class to, const char* name, size_t size, uint8_t log2_alignment, const char* types);
OBJC_EXPORT Ivar class_getInstanceVariable(Class of, const char* name);
OBJC_EXPORT Ivar* class_copyIvarList(Class of, unsigned* count);
OBJC_EXPORT BOOL class_addProtocol(Class to, Protocol* protocol);
OBJC_EXPORT BOOL class_conformsToProtocol(Class of, Protocol* protocol);
OBJC_EXPORT Protocol* __unsafe_unretained* class_copyProtocolList(Class of, unsigned* count);
OBJC_EXPORT objc_property_t class_getProperty(Class of, const char* name);
OBJC_EXPORT objc_property_t* class_copyPropertyList(Class of, unsigned* count);
OBJC_EXPORT id class_createInstance(Class of, size_t extra);

OBJC_EXPORT Class object_getClass(id object);
OBJC_EXPORT Class object_setClass(id object, Class to);
OBJC_EXPORT BOOL object_isClass(id object);
OBJC_EXPORT id object_dispose(id object);
OBJC_EXPORT id object_getIvar(id object, Ivar ivar);
OBJC_EXPORT void object_setIvar(id object, Ivar ivar, id value);
OBJC_EXPORT Ivar object_getInstanceVariable(id object, const char* name, void** value);
OBJC_EXPORT Ivar object_setInstanceVariable(id object, const char* name, void* value);

OBJC_EXPORT SEL method_getName(Method method);
OBJC_EXPORT IMP method_getImplementation(Method method);
OBJC_EXPORT IMP method_setImplementation(Method method, IMP implementation);
OBJC_EXPORT void method_exchangeImplementations(Method one, Method other);
OBJC_EXPORT const char* method_getTypeEncoding(Method method);

OBJC_EXPORT const char* ivar_getName(Ivar ivar);
OBJC_EXPORT const char* ivar_getTypeEncoding(Ivar ivar);
OBJC_EXPORT ptrdiff_t ivar_getOffset(Ivar ivar);
OBJC_EXPORT const char* property_getName(objc_property_t property);
OBJC_EXPORT const char* property_getAttributes(objc_property_t property);

OBJC_EXPORT Protocol* objc_getProtocol(const char* name);
OBJC_EXPORT const char* protocol_getName(Protocol* protocol);
OBJC_EXPORT BOOL protocol_isEqual(Protocol* one, Protocol* other);
OBJC_EXPORT BOOL protocol_conformsToProtocol(Protocol* protocol, Protocol* other);
OBJC_EXPORT struct objc_method_description protocol_getMethodDescription(Protocol* protocol, SEL selector,
                                                                         BOOL required, BOOL instance);

typedef uintptr_t objc_AssociationPolicy;
enum {
  OBJC_ASSOCIATION_ASSIGN = 0,
  OBJC_ASSOCIATION_RETAIN_NONATOMIC = 1,
  OBJC_ASSOCIATION_COPY_NONATOMIC = 3,
  OBJC_ASSOCIATION_RETAIN = 0x301,
  OBJC_ASSOCIATION_COPY = 0x303
};
OBJC_EXPORT void objc_setAssociatedObject(id object, const void* key, id value, objc_AssociationPolicy policy);
OBJC_EXPORT id objc_getAssociatedObject(id object, const void* key);
OBJC_EXPORT void objc_removeAssociatedObjects(id object);

OBJC_EXPORT int objc_sync_enter(id object);
OBJC_EXPORT int objc_sync_exit(id object);
OBJC_EXPORT void objc_enumerationMutation(id collection);
OBJC_EXPORT void objc_setEnumerationMutationHandler(void (*handler)(id));

OBJC_EXPORT __attribute__((noreturn)) void objc_exception_throw(id exception);
typedef void (*objc_uncaught_exception_handler)(id exception);
OBJC_EXPORT objc_uncaught_exception_handler objc_setUncaughtExceptionHandler(objc_uncaught_exception_handler handler);
